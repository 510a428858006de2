// Sums of floats round, so that their order tells: lanes that share an element add to it one after another, under masks too.
// Extremes are those of `min` and `max`.
//~ run: f(h=zeros:16, alone=zeros:16, x=fill(i % 7 == 3 ? -3e7 : i % 5 == 0 ? 3e7 : 0.37 * i):101, n=101) result == 0
//~ run: f(h=fill(i == 5 ? nan : 0.1 * i):16, alone=fill(i == 5 ? nan : 0.1 * i):16, x=fill(i == 40 ? inf : i == 71 ? -inf : 1.0 / (i + 1)):101, n=101) result == 0
//~ run: extremes(least=fill(5.0):8, most=fill(i == 3 ? nan : -5.0):8, x=fill(i == 40 ? inf : i == 71 ? nan : i % 9 == 2 ? -0.0 : i % 7 == 0 ? 0.0 : 1.0 / (i - 50.5)):101, n=101) result == 0
//~ run: doubles(h=zeros:16, alone=zeros:16, x=fill(i % 7 == 3 ? -3e16 : i % 5 == 0 ? 3e16 : 0.37 * i):101, n=101) result == 0
export uniform int f(uniform float h[], uniform float alone[], const uniform float x[], uniform int n) {
    uniform int different = 0;
    foreach (i = 0 ... n) {
        float before = atomic_add_local(&h[(i * i) & 7], x[i]);
        if (i % 3 != 1)
            before += atomic_subtract_global(&h[8 + (i & 3)], x[i]);
        foreach_active (lane) {
            uniform int k = extract(i, lane);
            uniform float then = atomic_add_local(&alone[(k * k) & 7], x[k]);
            if (k % 3 != 1)
                then += atomic_subtract_global(&alone[8 + (k & 3)], x[k]);
            if (intbits(extract(before, lane)) != intbits(then))
                ++different;
        }
    }
    for (uniform int k = 0; k < 16; ++k)
        if (intbits(h[k]) != intbits(alone[k]))
            ++different;
    return different;
}

static uniform float stored(uniform float *uniform at, uniform float x) {
    uniform float then = *at;
    *at = x;
    return then;
}

export uniform int extremes(uniform float least[], uniform float most[], const uniform float x[], uniform int n) {
    uniform int different = 0;
    uniform float low[8], high[8];
    for (uniform int k = 0; k < 8; ++k) {
        low[k] = least[k];
        high[k] = most[k];
    }
    foreach (i = 0 ... n) {
        float before = atomic_min_local(&least[(i * i) & 7], x[i]), other = atomic_max_global(&most[(i * 3) & 7], x[i]);
        foreach_active (lane) {
            uniform int k = extract(i, lane);
            uniform float then = stored(&low[(k * k) & 7], min(low[(k * k) & 7], x[k]));
            uniform float also = stored(&high[(k * 3) & 7], max(high[(k * 3) & 7], x[k]));
            if (intbits(extract(before, lane)) != intbits(then) || intbits(extract(other, lane)) != intbits(also))
                ++different;
        }
    }
    for (uniform int k = 0; k < 8; ++k)
        if (intbits(least[k]) != intbits(low[k]) || intbits(most[k]) != intbits(high[k]))
            ++different;
    return different;
}

export uniform int doubles(uniform double h[], uniform double alone[], const uniform double x[], uniform int n) {
    uniform int different = 0;
    foreach (i = 0 ... n) {
        double before = atomic_add_global(&h[i & 7], x[i]);
        foreach_active (lane) {
            uniform int k = extract(i, lane);
            uniform double then = alone[k & 7];
            alone[k & 7] = then + x[k];
            if (intbits(extract(before, lane)) != intbits(then))
                ++different;
        }
    }
    for (uniform int k = 0; k < 16; ++k)
        if (intbits(h[k]) != intbits(alone[k]))
            ++different;
    return different;
}
