// An endless loop of one lane.
//~ fuel: 10000
//~ run: f()
//~   trap: out_of_fuel
export void f() {
    int n = programIndex;
    while (n != 5 || programIndex == 0) n = 5;
}
