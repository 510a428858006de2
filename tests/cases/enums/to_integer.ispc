// Enumerators become integers by themselves; the way back needs a cast.
//~ run: f() result == 3
enum E { X = 2, Y };
export uniform int f() {
    uniform E e = X;
    uniform int n = e + 1;
    e = (uniform E)n;
    return e;
}
