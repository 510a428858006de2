// An r-function calls itself: sums over a tree, each node's children taken by the lanes.
//~ run: f(n=40) out[i] == (i == 0 ? 820 : 0)
static uniform int tree(uniform int node, uniform int n) {
    if (node > n) return 0;
    int child = 2 * node + programIndex;
    int below = 0;
    // At width 1 one lane takes both children in turn.
    for (uniform int first = 0; first < 2; first += programCount) {
        int at = child + first;
        if (programIndex + first < 2) below += crev tree(at, n);
    }
    return node + reduce_add(below);
}
export void f(uniform int n, uniform int out[]) {
    out[0] = tree(1, n);
}
