static void g(5); //~ error: E0103
export void f() { }
