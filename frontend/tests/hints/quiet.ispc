// Nothing here is worth a hint.
export void rows(uniform float out[], const uniform float from[], uniform int n, uniform int by) {
    foreach (i = 0 ... n) {
        float a = from[i] + from[i + 1] + from[by] + from[n - 1];
        out[i + by] = a / (a + 1);
        int k = i / by + i % 8;
        out[i] += k;
    }
}

// Outside of loops.
export void once(uniform float out[], const uniform float from[], const uniform int at[]) {
    out[at[programIndex]] = from[at[programIndex] * 3];
    out[programIndex] = at[programIndex] / (programIndex + 1);
}

// One lane at a time, as the program says.
export void one_by_one(uniform float out[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) {
        int to = at[i];
        foreach_active (lane) { out[to] += lane; }
    }
}

// The library, and calls for whole arrays.
export float of_arrays(float x, float y) {
    return pow(x, y) + sin(x);
}

export void ignored(uniform float out[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) {
#pragma ignore warning(perf)
        out[at[i]] = i;
    }
}

#define QUIETLY _Pragma("ignore warning(perf)")
#define STORE(to, index, value) _Pragma("ignore warning(perf)") to[index] = value
export void ignored_in_a_macro(uniform float out[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) {
        QUIETLY out[at[i]] = i;
        STORE(out, at[i], i);
    }
}

// In a row where the step is a multiple of the gang's width, which compiled code asks.
export void butterflies(uniform float x[], uniform int n, uniform int step, uniform int k) {
    foreach (i = 0 ... n) {
        int pair = 2 * step * (i / step) + i % step;
        float a = x[pair], b = x[pair + step];
        x[pair] = a + b;
        x[pair + step] = a - b;
        x[((i & ~(step - 1)) << 1) | (i & (step - 1))] += 1;
        x[i ^ step] += x[((i >> k) << (k + 1)) + (i & ((1 << k) - 1))];
    }
}
