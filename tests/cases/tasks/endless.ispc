// A loop without end in a task, while the launching function waits.
//~ fuel: 100000
//~ run: f()
//~   trap: out_of_fuel line=here message=of `forever`
task void forever() {
    while (true) {} //~ line: here
}
export void f() {
    launch[2] forever();
    sync;
}
