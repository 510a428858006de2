// A function of the program takes the place of the library's, although it says of its parameters that it does not change them.
//~ run: f(out=zeros:16) out[i] == 7
//~ run: g(out=zeros:16) out[i] == 7
inline int clamp(int a, const int low, const int high) {
    return 7;
}

export void f(uniform int out[]) {
    const int low = 3;
    foreach (i = 0 ... 16) {
        out[i] = clamp(i - 1, low, low + 2);
    }
}

export void g(uniform int out[]) {
    foreach (i = 0 ... 16) {
        int low = i;
        out[i] = clamp(low, low, low);
    }
}
