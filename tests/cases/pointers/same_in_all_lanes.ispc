// Varying registers that hold the same in all lanes when a loop begins, some of which do not keep it.
//~ run: dot(q=iota:400, k=iota:400, n=20, d=20, out=zeros:400) out[0] == 2470; out[399] == 3034870
//~ run: parts(from=iota:200, n=200, rounds=9, out=zeros:200) out[i] == (i < 100 ? 9 * i : 9 * 5)
//~ run: last(from=iota:30, n=30, out=zeros:30) out[i] == 3 * i + 7
inline float element(float *from, int row, int column, int columns) {
    return from[row * columns + column];
}

export void dot(uniform float q[], uniform float k[], uniform int n, uniform int d, uniform float out[]) {
    foreach (i = 0 ... n) {
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int x = 0; x < d; x++)
                sum += element(q, i, x, d) * element(k, j, x, d);
            out[i * n + j] = sum;
        }
    }
}

export void parts(uniform int from[], uniform int n, uniform int rounds, uniform int out[]) {
    for (uniform int first = 0; first < n; first += programCount) {
        int i = first + programIndex;
        int *source = from;
        int at = 5;
        if (i < n) {
            int sum = 0;
            for (uniform int round = 0; round < rounds; round++) {
                sum += i >= 100 ? source[at] : i;
                if (i < 100 && round == 3)
                    at = i;
            }
            out[i] = sum;
        }
    }
}

export void last(uniform int from[], uniform int n, uniform int out[]) {
    int add = 0;
    for (uniform int round = 0; round < 7; round++)
        add += 1;
    foreach (i = 0 ... n) {
        int factor = 0;
        for (uniform int round = 0; round < 3; round++)
            factor += 1;
        out[i] = factor * from[i] + add;
    }
}
