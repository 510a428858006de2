export void f() { }
/* this comment does not end //~ error: E0002
export void g() { }
