// Arrays of varying elements whose rows and columns both come from memory: each lane has its own element of each.
//~ run: rows(n=1000, c=3, out=zeros:1000) out[i] == -i + (3 + i) * 8 - (6 + i)
//~ run: lanes(n=64, at=fill(i % 3), out=zeros:64) out[i] == 100 * at[i] + 10 * (3 - at[i]) + i % W + i
//~ run: lanes(n=64, at=fill(i == 63 ? 100000 : i % 3), out=zeros:64)
//~   trap: out_of_bounds lane=W-1
//~   also: out[0] == (W == 64 ? 0 : 30)
int steps[3] = {-1, 0, 1};
int table[3][3] = {{-1, -1, -1}, {-1, 8, -1}, {-1, -1, -1}};

export void rows(uniform int n, uniform int c, uniform int out[]) {
    foreach (k = 0 ... n) {
        int sum = 0;
        for (uniform int q = 0; q < 3; q++)
            sum += (c * (1 + steps[q]) + k) * table[1 + steps[q]][1 + steps[q]];
        out[k] = sum;
    }
}

export void lanes(uniform int n, const uniform int at[], uniform int out[]) {
    int own[3][4];
    for (uniform int row = 0; row < 3; row++)
        for (uniform int column = 0; column < 4; column++)
            own[row][column] = 100 * row + 10 * column + programIndex;
    foreach (k = 0 ... n) {
        own[at[k]][at[k]] = k;
        out[k] = own[at[k]][3 - at[k]] + own[at[k]][at[k]];
    }
}
