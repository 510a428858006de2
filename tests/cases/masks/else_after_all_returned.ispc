// When all lanes of the first branch return, the else part runs for the others, then the code after the if.
//~ run: f() out[i] == (i < W ? (i < 2 ? 1 : 5) : 0)
export void f(uniform int out[]) {
    int x = 0;
    out[programIndex] = 1;
    if (programIndex < 2) return;
    else x = 2;
    out[programIndex] = x + 3;
}
