// The body of a loop is one block of more instructions than any region holds: it is cut where no label is.
//~ widths: 4,16
//~ run: mix(a=iota:256, n=256, rounds=30, out=zeros:256) out[i] == 30 * 864 + i
//~ run: under_mask(a=iota:256, n=256, rounds=30, out=zeros:256) out[i] == (i % 3 == 0 ? 30 * 864 : 0) + i
#define STEP x = x ^ (y + 1); y = y + x; y = y - x; x = x ^ (y + 1); x += 1;
#define STEPS12 STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP
#define STEPS144 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12 STEPS12
#define STEPS864 STEPS144 STEPS144 STEPS144 STEPS144 STEPS144 STEPS144

export void mix(const uniform int a[], uniform int n, uniform int rounds, uniform int out[]) {
    foreach (i = 0 ... n) {
        int x = a[i], y = i * 7;
        for (uniform int round = 0; round < rounds; round++) {
            STEPS864
        }
        out[i] = x;
    }
}

export void under_mask(const uniform int a[], uniform int n, uniform int rounds, uniform int out[]) {
    foreach (i = 0 ... n) {
        int x = a[i], y = i * 7;
        int end = i % 3 == 0 ? rounds : 0;
        for (int round = 0; round < end; round++) {
            STEPS864
        }
        out[i] = x;
    }
}
