// Plain text.
//~ run: f()
//~   print: hello
//~   print: 100 percent
export void f() { print("hello\n100 percent\n"); }
