// The mean value of a bounded random walk, by many walks per start; each lane has a generator of its own.
static inline float draw(uint32 &state) {
    state = state * 1664525u + 1013904223u;
    return (float)(int)(state >> 8) * (1.0f / 16777216.0f);
}

export void monte_carlo(uniform int n, uniform int walks, uniform int steps, const uniform float start[],
                        uniform float mean[]) {
    foreach (i = 0 ... n) {
        uint32 state = (uint32)i * 747796405u + 2891336453u;
        float total = 0;
        for (uniform int walk = 0; walk < walks; ++walk) {
            float x = start[i];
            for (uniform int step = 0; step < steps; ++step)
                x = clamp(x + 0.25f * (draw(state) - 0.5f), 0.0f, 1.0f);
            total += x;
        }
        mean[i] = total / walks;
    }
}
