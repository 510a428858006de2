// ++ takes the next value.
//~ run: f() result == 1
enum E { X, Y, Z };
export uniform int f() {
    uniform E e = X;
    ++e;
    return e == Y ? 1 : 0;
}
