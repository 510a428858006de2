// A text as a value.
//~ run: f()
//~   print: name: gang
export void f() { print("name: %\n", "gang"); }
