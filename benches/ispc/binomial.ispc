// American put options on a binomial tree of 64 steps: every lane folds a tree of its own, kept in an array of vectors.
export void binomial(uniform int n, uniform float rate, const uniform float spot[], const uniform float strike[],
                     const uniform float years[], const uniform float volatility[], uniform float price[]) {
    foreach (i = 0 ... n) {
        float value[65];
        float dt = years[i] / 64;
        float up = exp(volatility[i] * sqrt(dt));
        float down = 1 / up;
        float growth = exp(rate * dt);
        float rises = (growth - down) / (up - down);
        float k = strike[i];
        float s = spot[i] * pow(down, 64.0f);
        float ratio = up * up;
        for (uniform int node = 0; node <= 64; ++node) {
            value[node] = max(k - s, 0.0f);
            s *= ratio;
        }
        float a = rises / growth, b = (1 - rises) / growth;
        float lowest = spot[i] * pow(down, 64.0f);
        for (uniform int level = 63; level >= 0; --level) {
            lowest *= up;
            s = lowest;
            for (uniform int node = 0; node <= level; ++node) {
                value[node] = max(a * value[node + 1] + b * value[node], k - s);
                s *= ratio;
            }
        }
        price[i] = value[0];
    }
}
