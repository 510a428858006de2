// A binary tree, built and summed by recursion.
//~ run: f(depth=5) result == 31
struct Tree { Tree * uniform left; Tree * uniform right; };
static uniform Tree * uniform build(uniform int depth) {
    if (depth == 0) return NULL;
    uniform Tree * uniform t = uniform new uniform Tree;
    t->left = build(depth - 1);
    t->right = build(depth - 1);
    return t;
}
static uniform int count(uniform Tree * uniform t) {
    if (t == NULL) return 0;
    uniform int n = 1 + count(t->left) + count(t->right);
    delete t;
    return n;
}
export uniform int f(uniform int depth) { return count(build(depth)); }
