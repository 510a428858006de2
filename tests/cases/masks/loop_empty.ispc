// An endless loop under an empty mask does not run.
//~ run: f() result == 0
export uniform int f() {
    uniform int turns = 0;
    if (programIndex < 0) {
        while (true) ++turns;
    }
    return turns;
}
