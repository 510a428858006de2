// Local arrays and structs that are copied as bytes: what was written to them by elements is copied, and what was copied is read by
// elements, in every round.
struct Node { float weight; int children[3]; };
struct Pair { uniform Node nodes[2]; uniform int8 tail[5]; };
noinline void swap(uniform Pair &pair) {
    uniform Pair old;
    memcpy(&old, &pair, sizeof(uniform Pair));
    memcpy(&pair.nodes[0], &old.nodes[1], sizeof(uniform Node));
    memcpy(&pair.nodes[1], &old.nodes[0], sizeof(uniform Node));
    memset(&pair.tail[1], 9, 3);
}
//~ run: f(n=40, out=zeros:8) out[i] == (i == 0 ? 40 : i == 1 ? 39 : i == 2 ? 9 : i == 3 ? 7 : i == 4 ? 40 * 3 + 39 * 5 : 0)
export void f(uniform int n, uniform int out[]) {
    uniform Pair pair;
    for (uniform int i = 0; i < n; ++i) {
        pair.nodes[0].weight = i + 1; pair.nodes[1].weight = i;
        pair.nodes[0].children[2] = 3 * (i + 1); pair.nodes[1].children[2] = 5 * i;
        for (uniform int k = 0; k < 5; ++k) pair.tail[k] = 7;
        swap(pair);
        out[0] = pair.nodes[1].weight; out[1] = pair.nodes[0].weight;
        out[2] = pair.tail[3]; out[3] = pair.tail[4];
        out[4] = pair.nodes[0].children[2] + pair.nodes[1].children[2];
    }
}
// Rows of gangs, copied element by element of the lanes, and whole vectors.
//~ run: rows(n=3 * W, out=zeros) out[i] == (i < min(64, 12 * W) ? i / 4 * (i % 4 + 1) : 0)
export void rows(uniform int n, uniform int out[]) {
    for (uniform int base = 0; base < n; base += programCount) {
        uniform int row[4 * programCount];
        int twice[2];
        for (uniform int k = 0; k < 4; ++k) row[4 * programIndex + k] = (base + programIndex) * (k + 1);
        twice[0] = row[4 * programIndex];
        memcpy(&twice[1], &twice[0], sizeof(varying int));
        foreach_active (lane) {
            const uniform int at = 4 * (base + lane);
            if (at < 64) memcpy(&out[at], &row[4 * lane], 16);
        }
        if (any(twice[1] != base + programIndex)) out[0] = -1;
    }
}
