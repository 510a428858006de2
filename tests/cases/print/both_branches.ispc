// Each branch prints once, if it has lanes.
//~ run: f()
//~   print: even {[lane | lane % 2 == 0]}
//~   print[W>1]: odd {[lane | lane % 2 == 1]}
export void f() {
    int x = programIndex;
    if (programIndex % 2 == 0) print("even %\n", x);
    else print("odd %\n", x);
}
