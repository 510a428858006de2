// With one thread tasks run at their launch, in the order of their indices.
//~ tasks-in-order
//~ run: f()
//~   print: a0
//~   print: a1
//~   print: b0
//~   print: c0
//~   print: b1
//~   print: c0
//~   print: launched
//~   print: a0
task void a() { print("a%\n", taskIndex); }
task void c() { print("c%\n", taskIndex); }
task void b() { print("b%\n", taskIndex); launch c(); }
export void f() {
    launch[2] a();
    launch[2] b();
    print("launched\n");
    launch a();
}
