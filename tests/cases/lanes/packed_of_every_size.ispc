// Packed stores and loads of every size, by pointers that move, up to the end of what they store to and load from.
//~ same-bits-at-every-width
//~ run: i8(a=fill(i % 100):300, out=zeros:200, back=zeros:300) result == 200; out[i] == (i + (i + 1) / 2) % 100; back[i] == (i % 3 != 1 ? i % 100 : 7)
//~ run: u16(a=fill(i % 100):300, out=zeros:200, back=zeros:300) result == 200; out[i] == (i + (i + 1) / 2) % 100; back[i] == (i % 3 != 1 ? i % 100 : 7)
//~ run: i32(a=fill(i % 100):300, out=zeros:200, back=zeros:300) result == 200; out[i] == (i + (i + 1) / 2) % 100; back[i] == (i % 3 != 1 ? i % 100 : 7)
//~ run: f32(a=fill(i % 100):300, out=zeros:200, back=zeros:300) result == 200; out[i] == (i + (i + 1) / 2) % 100; back[i] == (i % 3 != 1 ? i % 100 : 7)
//~ run: u64(a=fill(i % 100):300, out=zeros:200, back=zeros:300) result == 200; out[i] == (i + (i + 1) / 2) % 100; back[i] == (i % 3 != 1 ? i % 100 : 7)
//~ run: f64(a=fill(i % 100):300, out=zeros:200, back=zeros:300) result == 200; out[i] == (i + (i + 1) / 2) % 100; back[i] == (i % 3 != 1 ? i % 100 : 7)
#define DEFINE(NAME, T) \
    export uniform int NAME(uniform T a[], uniform T out[], uniform T back[]) { \
        uniform int n = 0, m = 0; \
        foreach (i = 0 ... 300) \
            if (i % 3 != 1) n += packed_store_active(&out[n], a[i]); \
        foreach (i = 0 ... 300) { \
            T x = 7; \
            if (i % 3 != 1) m += packed_load_active(&out[m], &x); \
            back[i] = x; \
        } \
        return m; \
    }
DEFINE(i8, int8)
DEFINE(u16, uint16)
DEFINE(i32, int)
DEFINE(f32, float)
DEFINE(u64, uint64)
DEFINE(f64, double)

// With a condition of its own; all lanes, one, or none; and into an array of the function's own.
//~ run: some(a=iota:320, out=zeros:320, step=1) result == 320; out[i] == i
//~ run: some(a=iota:320, out=zeros:160, step=2) result == 160; out[i] == 2 * i
//~ run: some(a=iota:320, out=zeros:4, step=100) result == 4; out[i] == 100 * i
//~ run: some(a=iota:320, out=zeros:1, step=1000) result == 1; out[i] == 0
export uniform int some(uniform int a[], uniform int out[], uniform int step) {
    uniform int n = 0;
    foreach (i = 0 ... 320) n += packed_store_active(i % step == 0, &out[n], a[i]);
    return n;
}
//~ run: own(a=iota:256) result == 64 + 63 * 4; out[i] == i * 4
export uniform int own(uniform int a[], uniform int out[]) {
    uniform int own[64], n = 0;
    foreach (i = 0 ... 256)
        if (i % 4 == 0) n += packed_store_active(&own[n], a[i]);
    foreach (i = 0 ... 64) out[i] = own[i];
    return n + own[63];
}
