// Launches nest as deep as the machine allows.
//~ run: f()
//~   trap: stack_overflow line=here message=task 0 of
task void again() {
    launch again(); //~ line: here
}
export void f() { launch again(); }
