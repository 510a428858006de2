// Bellman–Ford: the shortest ways from node 0 to all nodes of a directed graph. In each round the nodes whose distance has changed
// in the round before offer their neighbours a way through them.
//
// The edges of node u are numbers `first[u]` to `first[u + 1] - 1` of `target` and `weight`. `distance` comes out; nodes that
// cannot be reached are at FAR. `changed` and `next` have room for a number per node.

#define FAR 0x3fffffff

/// Offers the neighbours of one node a way through it, as many at a time as there are lanes.
static void relax(uniform int node, const uniform int first[], const uniform int target[],
                  const uniform int weight[], uniform int distance[], uniform int next[])
{
    uniform int from = distance[node];
    foreach (edge = first[node] ... first[node + 1]) {
        int to = target[edge];
        int through = from + weight[edge];
        // Tasks may offer ways to the same node at the same time: the atomic minimum decides.
        if (through < distance[to] && through < atomic_min_global(&distance[to], through))
            next[to] = 1;
    }
}

task void relax_task(uniform int node, const uniform int first[], const uniform int target[],
                     const uniform int weight[], uniform int distance[], uniform int next[])
{
    relax(node, first, target, weight, distance, next);
}

/// All nodes are far but node 0, which has changed.
static void begin(uniform int nodes, uniform int distance[], uniform int changed[], uniform int next[])
{
    foreach (node = 0 ... nodes) {
        distance[node] = node == 0 ? 0 : FAR;
        changed[node] = node == 0 ? 1 : 0;
        next[node] = 0;
    }
}

/// What has changed in this round is to be looked at in the next one. Is there anything?
static uniform bool advance(uniform int nodes, uniform int changed[], uniform int next[])
{
    bool more = false;
    foreach (node = 0 ... nodes) {
        changed[node] = next[node];
        more |= next[node] != 0;
        next[node] = 0;
    }
    return any(more);
}

/// One edge at a time.
export void paths_seq(uniform int nodes, const uniform int first[], const uniform int target[],
                      const uniform int weight[], uniform int distance[], uniform int changed[], uniform int next[])
{
    for (uniform int node = 0; node < nodes; ++node) {
        distance[node] = node == 0 ? 0 : FAR;
        changed[node] = node == 0 ? 1 : 0;
        next[node] = 0;
    }
    uniform bool more = true;
    while (more) {
        for (uniform int node = 0; node < nodes; ++node) {
            if (changed[node] == 0)
                continue;
            for (uniform int edge = first[node]; edge < first[node + 1]; ++edge) {
                uniform int through = distance[node] + weight[edge];
                if (through < distance[target[edge]]) {
                    distance[target[edge]] = through;
                    next[target[edge]] = 1;
                }
            }
        }
        more = false;
        for (uniform int node = 0; node < nodes; ++node) {
            changed[node] = next[node];
            more |= next[node] != 0;
            next[node] = 0;
        }
    }
}

/// The gang goes from node to node, so that all lanes are on where edges are looked at.
export void paths_par(uniform int nodes, const uniform int first[], const uniform int target[],
                      const uniform int weight[], uniform int distance[], uniform int changed[], uniform int next[])
{
    begin(nodes, distance, changed, next);
    do {
        for (uniform int node = 0; node < nodes; ++node) {
            if (changed[node] != 0)
                relax(node, first, target, weight, distance, next);
        }
    } while (advance(nodes, changed, next));
}

/// Each lane looks at a node; those that have changed start a task.
export void paths_launch(uniform int nodes, const uniform int first[], const uniform int target[],
                         const uniform int weight[], uniform int distance[], uniform int changed[], uniform int next[])
{
    begin(nodes, distance, changed, next);
    do {
        foreach (node = 0 ... nodes) {
            if (changed[node] != 0) {
                foreach_active (lane)
                    launch relax_task(extract(node, lane), first, target, weight, distance, next);
            }
        }
        sync;
    } while (advance(nodes, changed, next));
}

/// Each lane looks at a node; for those that have changed all lanes look at the edges.
export void paths_crev(uniform int nodes, const uniform int first[], const uniform int target[],
                       const uniform int weight[], uniform int distance[], uniform int changed[], uniform int next[])
{
    begin(nodes, distance, changed, next);
    do {
        foreach (node = 0 ... nodes) {
            if (changed[node] != 0)
                crev relax(node, first, target, weight, distance, next);
        }
    } while (advance(nodes, changed, next));
}
