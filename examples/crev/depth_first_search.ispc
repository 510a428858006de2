// Depth-first search from node 0: from which node each one was first seen, and how far from the start along these edges.
//
// The edges of node u are numbers `first[u]` to `first[u + 1] - 1` of `target`. `parent` comes in as -1 everywhere; nodes that are
// not reached stay so, and the start is its own parent. `stack` has room for two numbers per edge and two more; only Par uses it.
//
// All variants but Launch give the tree of the textbook for every graph: neighbours in ascending order. Tasks run in any order, so
// Launch gives some tree of edges, and the same one only where there is just one, in a tree.

/// Sees a node, unless it has been seen, and goes on to its neighbours.
static void visit(uniform int node, uniform int from, const uniform int first[], const uniform int target[],
                  uniform int parent[], uniform int depth[])
{
    if (atomic_compare_exchange_global(&parent[node], -1, from) != -1)
        return;
    depth[node] = node == from ? 0 : depth[from] + 1;
    foreach (edge = first[node] ... first[node + 1]) {
        int next = target[edge];
        if (parent[next] == -1)
            crev visit(next, node, first, target, parent, depth);
    }
}

/// The same with tasks.
task void visit_task(uniform int node, uniform int from, const uniform int first[], const uniform int target[],
                     uniform int parent[], uniform int depth[])
{
    if (atomic_compare_exchange_global(&parent[node], -1, from) != -1)
        return;
    depth[node] = node == from ? 0 : depth[from] + 1;
    foreach (edge = first[node] ... first[node + 1]) {
        int next = target[edge];
        if (parent[next] == -1) {
            foreach_active (lane)
                launch visit_task(extract(next, lane), node, first, target, parent, depth);
        }
    }
}

/// The same, one neighbour at a time.
static void visit_seq(uniform int node, uniform int from, const uniform int first[], const uniform int target[],
                      uniform int parent[], uniform int depth[])
{
    parent[node] = from;
    depth[node] = node == from ? 0 : depth[from] + 1;
    for (uniform int edge = first[node]; edge < first[node + 1]; ++edge) {
        if (parent[target[edge]] == -1)
            visit_seq(target[edge], node, first, target, parent, depth);
    }
}

export void search_seq(const uniform int first[], const uniform int target[], uniform int parent[],
                       uniform int depth[], uniform int stack[])
{
    visit_seq(0, 0, first, target, parent, depth);
}

/// Without recursion: a stack of pairs, which all lanes fill together. The last neighbour is pushed first, so that the first one is
/// visited first.
export void search_par(const uniform int first[], const uniform int target[], uniform int parent[],
                       uniform int depth[], uniform int stack[])
{
    uniform int height = 2;
    stack[0] = 0;
    stack[1] = 0;
    while (height > 0) {
        height -= 2;
        uniform int node = stack[height], from = stack[height + 1];
        if (parent[node] != -1)
            continue;
        parent[node] = from;
        depth[node] = node == from ? 0 : depth[from] + 1;
        uniform int last = first[node + 1] - 1;
        foreach (k = 0 ... last + 1 - first[node]) {
            int next = target[last - k];
            if (parent[next] == -1) {
                int at = height + 2 * exclusive_scan_add(1);
                stack[at] = next;
                stack[at + 1] = node;
                height += 2 * reduce_add(1);
            }
        }
    }
}

export void search_launch(const uniform int first[], const uniform int target[], uniform int parent[],
                          uniform int depth[], uniform int stack[])
{
    launch visit_task(0, 0, first, target, parent, depth);
}

export void search_crev(const uniform int first[], const uniform int target[], uniform int parent[],
                        uniform int depth[], uniform int stack[])
{
    visit(0, 0, first, target, parent, depth);
}
