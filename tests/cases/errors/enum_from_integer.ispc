enum E { X, Y };
export void f() {
    uniform E e = 1; //~ error: E0202
}
