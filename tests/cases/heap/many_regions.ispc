// Loops that follow pointers into thousands of regions: live ones, null, some that are gone, some that never were, one that is read-only.
//~ run: walk(n=4500) result == 10122750
//~ run: gone(n=4500)
//~   trap: bad_pointer line=freed
//~ run: null(n=100)
//~   trap: null_pointer line=null
//~ run: invented(n=100)
//~   trap: bad_pointer line=invented
//~ run: outside(n=100)
//~   trap: out_of_bounds line=outside message=read of index 4
//~ run: before(n=100)
//~   trap: out_of_bounds line=before
//~ run: poisoned(n=100)
//~   trap: out_of_bounds line=poisoned
//~ run: unwritable(a=readonly iota:8, n=100)
//~   trap: read_only line=unwritable
struct Node { uniform int value; uniform Node * uniform next; };

static uniform Node * uniform list(uniform int n) {
    uniform Node * uniform head = NULL;
    for (uniform int k = 0; k < n; ++k) {
        uniform Node * uniform node = uniform new uniform Node;
        node->value = k;
        node->next = head;
        head = node;
    }
    return head;
}

static void drop(uniform Node * uniform p) {
    while (p != NULL) {
        uniform Node * uniform next = p->next;
        delete p;
        p = next;
    }
}

export uniform int walk(uniform int n) {
    uniform Node * uniform head = list(n);
    uniform int sum = 0;
    for (uniform Node * uniform p = head; p != NULL; p = p->next)
        sum += p->value;
    drop(head);
    return sum;
}

// The regions from the middle on are gone, with the part of the table that they were in.
export uniform int gone(uniform int n) {
    uniform Node * uniform head = list(n), * uniform p = head;
    for (uniform int k = 0; k < n / 2; ++k)
        p = p->next;
    drop(p);
    uniform int sum = 0;
    for (uniform Node * uniform q = head; q != NULL; q = q->next)
        sum += q->value; //~ line: freed
    return sum;
}


export uniform int null(uniform int n) {
    uniform int own[4], * uniform p[2] = { own, NULL };
    own[0] = 1;
    uniform int sum = 0;
    for (uniform int k = 0; k <= n; ++k)
        sum += p[k / n][0]; //~ line: null
    return sum;
}

export uniform int invented(uniform int n) {
    uniform int64 at = 0;
    uniform int own[4];
    own[0] = 1;
    uniform int sum = 0;
    for (uniform int k = 0; k <= n; ++k) {
        uniform int * uniform p = k < n ? &own[0] : (uniform int * uniform)(0x7fffff0000000004 + at);
        sum += p[0]; //~ line: invented
    }
    return sum;
}

export uniform int outside(uniform int n) {
    uniform int * uniform p = uniform new uniform int[4];
    uniform int * uniform all[2] = { p, p + 4 };
    uniform int sum = 0;
    for (uniform int k = 0; k <= n; ++k)
        sum += all[k / n][0]; //~ line: outside
    return sum;
}

export uniform int before(uniform int n) {
    uniform int * uniform p = uniform new uniform int[4];
    uniform int * uniform all[2] = { p, p - 1 };
    uniform int sum = 0;
    for (uniform int k = 0; k <= n; ++k)
        sum += all[k / n][0]; //~ line: before
    return sum;
}

export uniform int poisoned(uniform int n) {
    uniform int * uniform p = uniform new uniform int[4];
    uniform int * uniform all[2] = { p, p + 0x7fffffffffffff };
    uniform int sum = 0;
    for (uniform int k = 0; k <= n; ++k)
        sum += all[k / n][0]; //~ line: poisoned
    return sum;
}

export void unwritable(const uniform int a[], uniform int n) {
    uniform int own[4];
    uniform int * uniform all[2] = { own, (uniform int * uniform)a };
    for (uniform int k = 0; k <= n; ++k)
        all[k / n][0] = k; //~ line: unwritable
}
