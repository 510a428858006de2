struct S { int a; };
export uniform S f() { //~ error: E0224
    uniform S s = { 1 };
    return s;
}
