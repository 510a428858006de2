// Varying values as a list of lanes.
//~ run: f()
//~   print: {[lane * 2]} {[lane * 0.5]} {[lane == 0 ? "true" : "false"]}
export void f() {
    print("% % %\n", programIndex * 2, programIndex * 0.5, programIndex == 0);
}
