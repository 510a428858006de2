// An endless loop with bounded fuel.
//~ fuel: 10000
//~ run: f()
//~   trap: out_of_fuel
export void f() {
    while (true) { }
}
