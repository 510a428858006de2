// European options by the formula of Black and Scholes; the normal distribution by formula 26.2.17 of Abramowitz and Stegun.
static inline float normal(float x) {
    float size = abs(x);
    float k = 1 / (1 + 0.2316419f * size);
    float series = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * exp(-0.5f * size * size) * series;
    return x < 0 ? tail : 1 - tail;
}

export void black_scholes(uniform int n, uniform float rate, const uniform float spot[], const uniform float strike[],
                          const uniform float years[], const uniform float volatility[],
                          uniform float call[], uniform float put[]) {
    foreach (i = 0 ... n) {
        float s = spot[i], k = strike[i], t = years[i], v = volatility[i];
        float spread = v * sqrt(t);
        float upper = (log(s / k) + (rate + 0.5f * v * v) * t) / spread;
        float lower = upper - spread;
        float discounted = k * exp(-rate * t);
        call[i] = s * normal(upper) - discounted * normal(lower);
        put[i] = discounted * normal(-lower) - s * normal(-upper);
    }
}
