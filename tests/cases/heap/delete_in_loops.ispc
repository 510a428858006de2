// Memory that is freed within a loop is gone for the rest of it, by whatever name and whoever frees it: what was known of it in
// earlier rounds, its bounds and its address, holds no more.
//~ run: sum_until(n=40, at=40) result == 1600
//~ run: sum_until(n=40, at=38)
//~   trap: bad_pointer line=a
//~ run: by_alias(n=40, at=40) result == 120
//~ run: by_alias(n=40, at=30)
//~   trap: bad_pointer line=b
//~ run: called(n=40, at=40) result == 80
//~ run: called(n=40, at=25)
//~   trap: bad_pointer line=c
//~ run: by_pointer(n=40, at=40, way=0) result == 80
//~ run: by_pointer(n=40, at=25, way=0)
//~   trap: bad_pointer line=d
//~ run: by_pointer(n=40, at=25, way=1)
//~   trap: bad_pointer line=d
//~ run: twice(n=40, at=40) result == 780
//~ run: twice(n=40, at=33)
//~   trap: bad_free line=e
//~ run: made_anew(n=40) result == 0
//~ run: some_lanes(n=20) result == 210
//~ run: lanes_share(n=20, at=20) result == 20
//~ run: lanes_share(n=20, at=12) result == 20
//~   trap[W>1]: bad_free
//~ run: kept(n=30) result == 465
//~ run: table(n=60) result == 1770
//~ run: list(n=50) result == 1225
//~ run: beside_locals(n=40) result == 820
//~ run: keeps_arguments(n=40, x=iota:16) result == 4839

// The inner loop's bounds are the same in all rounds of the outer one, until the array is freed.
export uniform int sum_until(uniform int n, uniform int at) {
    uniform int m = 40;
    uniform int * uniform p = uniform new uniform int[m];
    for (uniform int j = 0; j < m; ++j) p[j] = 1;
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        for (uniform int j = 0; j < m; ++j) {
            s += p[j]; //~ line: a
        }
        if (i == at) delete[] p;
    }
    return s;
}

export uniform int by_alias(uniform int n, uniform int at) {
    uniform int * uniform p = uniform new uniform int[3];
    uniform int * uniform other = uniform new uniform int[3];
    uniform int * uniform q = n > 0 ? p : other;
    for (uniform int j = 0; j < 3; ++j) p[j] = j;
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        s += p[0] + p[1];
        if (i == at) delete[] q;
        s += p[2]; //~ line: b
    }
    return s;
}

// Too deep to be inlined: the call is made.
static void drop(uniform int * uniform p, uniform int depth) {
    if (depth > 0) {
        drop(p, depth - 1);
        return;
    }
    delete[] p;
}

export uniform int called(uniform int n, uniform int at) {
    uniform int * uniform p = uniform new uniform int[2];
    p[1] = 1;
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform q = uniform new uniform int[2];
        s += p[1];
        drop(i == at ? p : q, 12);
        s += p[1]; //~ line: c
    }
    return s;
}

static void frees(uniform int * uniform p) { delete[] p; }
static void frees_later(uniform int * uniform p) { drop(p, 9); }

export uniform int by_pointer(uniform int n, uniform int at, uniform int way) {
    void (* uniform ways[3])(uniform int * uniform p);
    ways[0] = &frees;
    ways[1] = &frees_later;
    ways[2] = &frees_later;
    uniform int * uniform p = uniform new uniform int[2];
    p[1] = 1;
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        s += p[1];
        uniform int * uniform q = uniform new uniform int[2];
        void (* uniform now)(uniform int * uniform p) = ways[(i + way) & 1];
        now(i == at ? p : q);
        s += p[1]; //~ line: d
    }
    return s;
}

export uniform int twice(uniform int n, uniform int at) {
    uniform int s = 0;
    uniform int * uniform before = NULL;
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform p = uniform new uniform int;
        *p = i;
        s += *p;
        if (i == at) delete before; //~ line: e
        delete p;
        before = p;
    }
    return s;
}

// The host may give the same memory again. It is zero.
export uniform int made_anew(uniform int n) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform p = uniform new uniform int[8];
        for (uniform int j = 0; j < 8; ++j) { s += p[j]; p[j] = i + 1; }
        delete[] p;
        uniform int * uniform q = uniform new uniform int[8];
        s += q[0] + q[7];
        q[7] = 5;
        delete[] q;
    }
    return s;
}

// Lanes free what is theirs, under masks.
export uniform int some_lanes(uniform int n) {
    uniform int total = 0;
    for (uniform int i = 1; i <= n; ++i) {
        if (programIndex == 0) {
            uniform int * varying p = uniform new uniform int[2];
            p[1] = i;
            total += extract(p[1], 0);
            if (i != n + 1) delete[] p;
        }
    }
    return total;
}

export uniform int lanes_share(uniform int n, uniform int at) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform p = uniform new uniform int[1];
        uniform int * varying q = (programIndex == 0 || i == at) ? p : NULL;
        *p = 1;
        s += *p;
        delete[] q;
    }
    return s;
}

// What is not freed is there all the time.
export uniform int kept(uniform int n) {
    uniform int * uniform all = uniform new uniform int[n];
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform p = uniform new uniform int[n];
        for (uniform int j = 0; j < n; ++j) p[j] = 1;
        for (uniform int j = 0; j <= i; ++j) all[i] += p[j];
        delete[] p;
    }
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) s += all[i];
    delete[] all;
    return s;
}

// A ring of allocations: each is freed some rounds after it was made.
export uniform int table(uniform int n) {
    uniform int * uniform ring[4] = { NULL, NULL, NULL, NULL };
    uniform int s = 0;
    for (uniform int i = 0; i < n + 4; ++i) {
        if (ring[i & 3] != NULL) {
            s += *ring[i & 3];
            delete ring[i & 3];
            ring[i & 3] = NULL;
        }
        if (i < n) {
            ring[i & 3] = uniform new uniform int;
            *ring[i & 3] = i;
        }
    }
    return s;
}

struct Node { uniform int value; Node * uniform next; };

export uniform int list(uniform int n) {
    Node * uniform first = NULL;
    for (uniform int i = 0; i < n; ++i) {
        Node * uniform node = uniform new uniform Node;
        node->value = i;
        node->next = first;
        first = node;
    }
    uniform int s = 0;
    while (first != NULL) {
        Node * uniform next = first->next;
        s += first->value;
        delete first;
        first = next;
    }
    return s;
}

// Memory of frames and of the heap end in the same rounds.
static uniform int through(uniform int * uniform place, uniform int * uniform more, uniform int i) {
    uniform int own[4] = { 1, 2, 3, 4 };
    uniform int * uniform at = i > 1000 ? place : own;
    at[i & 3] = i;
    uniform int s = at[i & 3] + *more;
    delete more;
    return s + place[0];
}

export uniform int beside_locals(uniform int n) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        uniform int place[2] = { 1, 1 };
        uniform int * uniform more = uniform new uniform int;
        s += through(place, more, i);
    }
    return s;
}

export uniform int keeps_arguments(uniform int n, uniform int x[]) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform p = uniform new uniform int[16];
        for (uniform int j = 0; j < 16; ++j) p[j] = x[j];
        for (uniform int j = 0; j < 16; ++j) s += p[j];
        delete[] p;
        x[0] = 1;
    }
    return s;
}
