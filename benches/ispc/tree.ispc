// How many numbers of a balanced search tree lie within a range, for many ranges: recursion under a mask, as lanes part.
static int count(const uniform int tree[], uniform int nodes, int node, int low, int high) {
    if (node >= nodes)
        return 0;
    int key = tree[node];
    int found = 0;
    if (key >= low && key <= high)
        found = 1;
    if (key > low)
        found += count(tree, nodes, 2 * node + 1, low, high);
    if (key < high)
        found += count(tree, nodes, 2 * node + 2, low, high);
    return found;
}

export void tree(uniform int n, uniform int nodes, const uniform int keys[], const uniform int low[],
                 const uniform int high[], uniform int found[]) {
    foreach (i = 0 ... n)
        found[i] = count(keys, nodes, 0, low[i], high[i]);
}
