// The message names the local array, and the index as it is written, wherever the array lies in the memory of the call.
//~ run: f(k=40)
//~   trap: out_of_bounds line=read message=read of index 40 of `t`, which has 4 elements
//~ run: f(k=-30)
//~   trap: out_of_bounds line=read message=read of index -30 of `t`, which has 4 elements
//~ run: g(k=50)
//~   trap: out_of_bounds line=write message=write to index 50 of `each`, which has 3 elements (lane 0)
//~ run: h(k=60)
//~   trap: out_of_bounds message=read of index 60 of `u`, which has 5 elements
export uniform int f(uniform int k) {
    uniform int before[4] = { 5, 6, 7, 8 };
    uniform int t[4] = { 1, 2, 3, 4 };
    before[k & 3] = 9;
    return t[k] //~ line: read
           + before[k & 1];
}
export void g(uniform int k) {
    float other[2];
    float each[3];
    other[programIndex & 1] = 1;
    each[programIndex * 0 + k] = other[0]; //~ line: write
}
static noinline uniform int at(uniform int a[], uniform int k) { return a[k]; }
export uniform int h(uniform int k) {
    uniform double first[2] = { 1, 2 };
    uniform int u[5];
    return at(u, k) + (uniform int)first[k & 1];
}
