struct S { float x; };
export void f(S s) { }
export S g() { S s; return s; }
export void h(varying float * varying p) { }
export uniform int n;
static export void k() { }
