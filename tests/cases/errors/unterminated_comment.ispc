//~ error: E0002
/* this comment does not end
export void f() { }
