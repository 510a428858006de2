// Of arrays with several dimensions each index is told, as it is written: local, global and the host's.
//~ run: of_call(y=9, x=1)
//~   trap: out_of_bounds message=write to index [9][1] of `t`, which has [3][4] elements
//~ run: of_call(y=2, x=70)
//~   trap: out_of_bounds message=write to index [2][70] of `t`, which has [3][4] elements
//~ run: of_program(y=5, x=2)
//~   trap: out_of_bounds message=read of index [5][2] of `g`, which has [4][8] elements
//~ run: of_host(a=iota:12, y=3, x=1)
//~   trap: out_of_bounds message=read of index [3][1] of `a`, which has [3][4] elements
//~ run: lanes(a=iota:12, y=7)
//~   trap: out_of_bounds lane=0 message=read of index [7][0] of `a`, which has [3][4] elements
//~ run: cube(k=6)
//~   trap: out_of_bounds message=read of index [6][1][1] of `c`, which has [2][2][2] elements
uniform int g[4][8];
export void of_call(uniform int y, uniform int x) {
    uniform int t[3][4];
    t[y][x] = 1;
    assert(t[0][0] == 0);
}
export uniform int of_program(uniform int y, uniform int x) { return g[y][x]; }
export uniform int of_host(uniform int a[][4], uniform int y, uniform int x) { return a[y][x]; }
export uniform int lanes(uniform int a[][4], uniform int y) { return extract(a[y][programIndex & 3], 0); }
export uniform int cube(uniform int k) {
    uniform int8 c[2][2][2];
    c[k & 1][0][0] = 1;
    return c[k][1][1];
}
