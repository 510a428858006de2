// Only active lanes count, in the wide sum too.
//~ run: f() result == 127 * ((W + 1) / 2)
export uniform int f() {
    int8 a = 127;
    uniform int sum = 0;
    if (programIndex % 2 == 0) sum = reduce_add(a);
    return sum;
}
