// The order of qualifiers and types in casts and declarations is free.
//~ run: f(x=3.7) result == 3 + 3
export uniform int f(uniform float x) {
    int uniform a = (uniform int)x;
    uniform int b = (int uniform)x;
    return a + b;
}
