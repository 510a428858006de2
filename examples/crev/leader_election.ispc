// Leader election: in each connected part of an undirected graph the node with the smallest number becomes the leader of all. In each
// round the nodes that have heard of a smaller number tell their neighbours (FloodMax of Lynch's "Distributed Algorithms", with
// the minimum, and only those speak who have news).
//
// The neighbours of node u are numbers `first[u]` to `first[u + 1] - 1` of `target`. `leader` comes out. `news` and `next` have room
// for a number per node.

/// Tells the neighbours of one node whom it takes for the leader, as many at a time as there are lanes.
static void tell(uniform int node, const uniform int first[], const uniform int target[], uniform int leader[],
                 uniform int next[])
{
    uniform int candidate = leader[node];
    foreach (edge = first[node] ... first[node + 1]) {
        int to = target[edge];
        // Tasks may speak to the same node at the same time: the atomic minimum decides.
        if (candidate < leader[to] && candidate < atomic_min_global(&leader[to], candidate))
            next[to] = 1;
    }
}

task void tell_task(uniform int node, const uniform int first[], const uniform int target[], uniform int leader[],
                    uniform int next[])
{
    tell(node, first, target, leader, next);
}

/// Everybody is a candidate, and has yet to say so.
static void begin(uniform int nodes, uniform int leader[], uniform int news[], uniform int next[])
{
    foreach (node = 0 ... nodes) {
        leader[node] = node;
        news[node] = 1;
        next[node] = 0;
    }
}

/// What was heard in this round is told in the next one. Is there anything?
static uniform bool advance(uniform int nodes, uniform int news[], uniform int next[])
{
    bool more = false;
    foreach (node = 0 ... nodes) {
        news[node] = next[node];
        more |= next[node] != 0;
        next[node] = 0;
    }
    return any(more);
}

/// One edge at a time.
export void elect_seq(uniform int nodes, const uniform int first[], const uniform int target[], uniform int leader[],
                      uniform int news[], uniform int next[])
{
    for (uniform int node = 0; node < nodes; ++node) {
        leader[node] = node;
        news[node] = 1;
        next[node] = 0;
    }
    uniform bool more = true;
    while (more) {
        for (uniform int node = 0; node < nodes; ++node) {
            if (news[node] == 0)
                continue;
            for (uniform int edge = first[node]; edge < first[node + 1]; ++edge) {
                if (leader[node] < leader[target[edge]]) {
                    leader[target[edge]] = leader[node];
                    next[target[edge]] = 1;
                }
            }
        }
        more = false;
        for (uniform int node = 0; node < nodes; ++node) {
            news[node] = next[node];
            more |= next[node] != 0;
            next[node] = 0;
        }
    }
}

/// The gang goes from node to node, so that all lanes are on where edges are looked at.
export void elect_par(uniform int nodes, const uniform int first[], const uniform int target[], uniform int leader[],
                      uniform int news[], uniform int next[])
{
    begin(nodes, leader, news, next);
    do {
        for (uniform int node = 0; node < nodes; ++node) {
            if (news[node] != 0)
                tell(node, first, target, leader, next);
        }
    } while (advance(nodes, news, next));
}

/// Each lane looks at a node; those that have news start a task.
export void elect_launch(uniform int nodes, const uniform int first[], const uniform int target[],
                         uniform int leader[], uniform int news[], uniform int next[])
{
    begin(nodes, leader, news, next);
    do {
        foreach (node = 0 ... nodes) {
            if (news[node] != 0) {
                foreach_active (lane)
                    launch tell_task(extract(node, lane), first, target, leader, next);
            }
        }
        sync;
    } while (advance(nodes, news, next));
}

/// Each lane looks at a node; for those that have news all lanes tell the neighbours.
export void elect_crev(uniform int nodes, const uniform int first[], const uniform int target[], uniform int leader[],
                       uniform int news[], uniform int next[])
{
    begin(nodes, leader, news, next);
    do {
        foreach (node = 0 ... nodes) {
            if (news[node] != 0)
                crev tell(node, first, target, leader, next);
        }
    } while (advance(nodes, news, next));
}
