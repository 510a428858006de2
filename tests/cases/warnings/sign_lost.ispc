// A negative number compared with an unsigned one is huge; what cannot be negative is quiet.
export bool f(int x, uniform uint n, uint y, uniform int k) {
    bool a = x < n;                       //~ warning: W0215
    a = a || y > k;                       //~ warning: W0215
    a = a || programIndex < n || (x & 7) < n || (uint)x < n || y < 5 || y == 3u;
    foreach (i = 0 ... 4) a = a || i < n;
    return a;
}
