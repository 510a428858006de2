struct S { int a; };
export void f() {
    uniform S s;
    switch (s) { //~ error: E0219
    case 1: break;
    }
}
