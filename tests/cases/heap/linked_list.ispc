// Nodes that point to one another.
//~ run: f(n=5) result == 43210
struct Node { int value; Node * uniform next; };
export uniform int f(uniform int n) {
    uniform Node * uniform head = NULL;
    for (uniform int k = 0; k < n; ++k) {
        uniform Node * uniform node = uniform new uniform Node;
        node->value = k;
        node->next = head;
        head = node;
    }
    uniform int r = 0;
    while (head != NULL) {
        r = r * 10 + head->value;
        uniform Node * uniform next = head->next;
        delete head;
        head = next;
    }
    return r;
}
