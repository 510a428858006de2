struct S { int a; };
export S f() { //~ error: E0224
    S s = { 1 };
    return s;
}
