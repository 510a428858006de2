// Escape sequences.
//~ run: f()
//~   print: a"b\c	d
export void f() { print("a\"b\\c\td\n"); }
