// Local variables read and written as other types of their size: the bits are those in memory, the payloads of NaNs among them.
//~ run: signs(x=fill(10 - i):200, n=200, out=zeros:200) out[i] == (i > 10 ? 1 : 0)
//~ run: doubles(x=fill(i - 10):200, n=200, out=zeros:200) out[i] == (i < 10 ? 1 : 0)
//~ run: halved(x=fill(i + 1):200, n=200, out=zeros:200) out[i] == (i + 1) / 2.0
//~ run: one_by_one(x=fill(i + 1):200, n=200, out=zeros:200) out[i] == (i + 1) * 4
//~ run: payloads(bits=fill(2139095041 + i):200, n=200, out=zeros:200) out[i] == 2139095041 + i
//~ run: members(x=fill(i):200, n=200, out=zeros:200) out[i] == i + (i % 3 == 0 ? 1065353216 : 0)
//~ run: by_bytes(x=fill(i * 257):200, n=200, out=zeros:200) out[i] == i * 257 % 256 + 1000 * (i * 257 / 256 % 256)
inline unsigned int bits(float x) { return *((varying unsigned int *)&x); }

export void signs(uniform float x[], uniform int n, uniform unsigned int out[]) {
    foreach (i = 0 ... n)
        out[i] = bits(x[i]) >> 31;
}

export void doubles(uniform double x[], uniform int n, uniform unsigned int64 out[]) {
    foreach (i = 0 ... n) {
        double d = x[i];
        out[i] = (unsigned int64 &)d >> 63;
    }
}

// Where the sign says so, lanes are written as integers: the exponent less one is half the number.
export void halved(uniform float x[], uniform int n, uniform float out[]) {
    foreach (i = 0 ... n) {
        float v = i % 2 == 0 ? x[i] : -x[i];
        varying int *uniform as_int = (varying int *uniform)&v;
        if (*as_int < 0)
            *as_int = *as_int & 0x7fffffff;
        *as_int -= 1 << 23;
        out[i] = v;
    }
}

export void one_by_one(uniform float x[], uniform int n, uniform float out[]) {
    for (uniform int i = 0; i < n; i++) {
        uniform float v = x[i];
        *((uniform int *uniform)&v) += 2 << 23;
        out[i] = v;
    }
}

// NaNs of all kinds, which no arithmetic touches.
export void payloads(uniform int bits[], uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) {
        int v = bits[i];
        float f = *((varying float *)&v);
        if (i % 5 != 0)
            out[i] = *((varying int *)&f);
        else
            out[i] = v;
    }
}

struct Both {
    int first;
    float second;
};

inline void add(Both &both) {
    both.first += *((varying int *)&both.second);
}

export void members(uniform int x[], uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) {
        Both both = { x[i], i % 3 == 0 ? 1 : 0 };
        add(both);
        out[i] = both.first;
    }
}

// Parts of a variable stay in memory.
export void by_bytes(uniform int x[], uniform int n, uniform int out[]) {
    for (uniform int i = 0; i < n; i++) {
        uniform int v = x[i];
        uniform unsigned int8 *uniform bytes = (uniform unsigned int8 *uniform)&v;
        out[i] = bytes[0] + 1000 * bytes[1];
    }
}
