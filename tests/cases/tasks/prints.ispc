// Every print of a task comes out whole.
//~ run: f()
//~   print: task 0 of 1: 0 1 2 3 4 5 6 7 8 9
task void one(uniform int n) {
    print("task % of %: 0 1 2 3 4 5 6 7 8 9\n", taskIndex, n);
}
export void f() { launch one(1); }
