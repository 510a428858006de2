struct S { float a; };
export void f() {
    soa<3> S s[4]; //~ error: E0230
}
