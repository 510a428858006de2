// Lanes that store to one address: what the last active one stores is left, and nothing if there is none.
//~ run: all(n=200, out=zeros:200) out[i] == i + W - 1
//~ run: some(n=200, out=zeros:200) out[i] == (i % 4 == 3 ? 0 : i * 1000 + (i % 4 < W ? i % 4 : W - 1))
//~ run: small(n=200, out=zeros:200) out[i] == (i + W - 1) % 100
//~ run: truths(n=200, out=zeros:200) out[i] == (i % 2 == 0 ? 1 : 0)
//~ run: one_value(n=200, out=zeros:200) out[i] == (i % 3 == 0 ? i : 0)
//~ run: outside(n=200, out=zeros:100)
//~   trap: out_of_bounds line=here
//~   also: out[i] == i + W - 1
inline void put(float v, float *to) { *to = v; }
inline void put(int v, int *to) { *to = v; }
inline void put(int8 v, int8 *to) { *to = v; }
inline void put(bool v, bool *to) { *to = v; }

export void all(uniform int n, uniform float out[]) {
    for (uniform int i = 0; i < n; i++) {
        float v = i + programIndex;
        put(v, &out[i]);
    }
}

export void some(uniform int n, uniform int out[]) {
    for (uniform int i = 0; i < n; i++) {
        if (programIndex <= i % 4 && i % 4 != 3)
            put(i * 1000 + programIndex, &out[i]);
    }
}

export void small(uniform int n, uniform int8 out[]) {
    for (uniform int i = 0; i < n; i++) {
        int8 v = (i + programIndex) % 100;
        put(v, &out[i]);
    }
}

export void truths(uniform int n, uniform bool out[]) {
    for (uniform int i = 0; i < n; i++)
        put((i + programCount - 1 - programIndex) % 2 == 0, &out[i]);
}

export void one_value(uniform int n, uniform int out[]) {
    for (uniform int i = 0; i < n; i++) {
        int same = i;
        if (programIndex >= 0 && i % 3 == 0)
            put(same, &out[i]);
    }
}

export void outside(uniform int n, uniform float out[]) {
    for (uniform int i = 0; i < n; i++) {
        float v = i + programIndex;
        float *to = &out[i];
        *to = v;  //~ line: here
    }
}
