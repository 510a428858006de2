#nonsense //~ error: E0006
export void f() { }
