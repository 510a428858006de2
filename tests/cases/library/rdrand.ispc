// There is no true randomness, as on a processor without it: the answer is false and memory stays.
//~ run: f(a=fill(7):64) a[i] == (i < 3 ? 7 : 7); result == 0
export uniform int f(uniform int a[]) {
    uniform int tries = 0;
    if (rdrand(&a[0])) tries += 1;
    int mine = programIndex;
    if (rdrand(&mine)) tries += 1;
    if (rdrand(&a[programIndex])) tries += 1;
    uniform float x = 0.5;
    fastmath();
    if (rdrand(&x)) tries += 1;
    return any(mine != programIndex) ? -1 : tries;
}
