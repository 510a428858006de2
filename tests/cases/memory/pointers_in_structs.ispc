// Pointers that are loaded from structs and tables in every round of a loop, and what may change them meanwhile.
//~ run: sum(x=iota:300, y=fill(2 * i):300, n=300, z=zeros:300) z[i] == 4 * i
//~ run: sum(x=iota:300, y=fill(2 * i):300, n=0, z=zeros:300) z[i] == 0
//~ run: table(x=iota:300, n=100, out=zeros:100) out[i] == 3 * i + 300
//~ run: chain(x=iota:200, n=200, rounds=3, out=zeros:200) out[i] == 3 * i
//~ run: swap(x=iota:100, y=zeros:100, n=100, rounds=9) x[i] == i + 8; y[i] == i + 9
//~ run: changed_by_halves(a=iota:400, b=fill(1000 + i):400, n=400, out=zeros:400) out[i] == (i <= 300 ? i : 1000 + i)
//~ run: changed_often(a=iota:400, b=fill(1000 + i):400, n=400, out=zeros:400) out[i] == (i % 2 == 0 ? i : 1000 + i)
//~ run: through_itself(a=fill(7 * i):300, out=zeros:300, n=300) out[i] == (i < 4 ? 0 : 7 * i)
//~ run: divided(a=fill(7 * i):300, by=ones:300, out=zeros:300, n=300) out[i] == (i < 4 ? 0 : 7 * i)
//~ run: nowhere(n=0) result == 1
//~ run: beyond(x=iota:100, n=100, length=50, out=zeros:100)
//~   trap: out_of_bounds line=beyond
struct Arrays {
    uniform float *uniform x;
    uniform float *uniform y;
    uniform float *uniform z;
    int n;
};

noinline void add(uniform Arrays *uniform arrays) {
    foreach (i = 0 ... arrays->n)
        arrays->z[i] = arrays->x[i] * 2 + arrays->y[i];
}

export void sum(uniform float x[], uniform float y[], uniform int n, uniform float z[]) {
    uniform Arrays arrays;
    arrays.x = x;
    arrays.y = y;
    arrays.z = z;
    arrays.n = n;
    add(&arrays);
}

noinline void add_rows(uniform int *uniform rows[], uniform int n, uniform int out[]) {
    foreach (i = 0 ... n)
        out[i] = rows[0][i] + rows[1][i] + rows[2][i];
}

export void table(uniform int x[], uniform int n, uniform int out[]) {
    uniform int *uniform rows[3] = { x, x + 100, x + 200 };
    add_rows(rows, n, out);
}

// A pointer to what holds a pointer.
struct Outer {
    uniform Arrays *uniform arrays;
    uniform int rounds;
};

noinline void accumulate(uniform Outer *uniform outer) {
    for (uniform int round = 0; round < outer->rounds; round++)
        foreach (i = 0 ... outer->arrays->n)
            outer->arrays->z[i] += outer->arrays->x[i];
}

export void chain(uniform float x[], uniform int n, uniform int rounds, uniform float out[]) {
    uniform Arrays arrays;
    arrays.x = x;
    arrays.z = out;
    arrays.n = n;
    uniform Outer outer = { &arrays, rounds };
    accumulate(&outer);
}

// Two arrays that change places after every round.
struct Buffers {
    uniform int *uniform from;
    uniform int *uniform to;
};

noinline void step(uniform Buffers *uniform buffers, uniform int n, uniform int rounds) {
    for (uniform int round = 0; round < rounds; round++) {
        foreach (i = 0 ... n)
            buffers->to[i] = buffers->from[i] + 1;
        uniform int *uniform from = buffers->from;
        buffers->from = buffers->to;
        buffers->to = from;
    }
}

export void swap(uniform int x[], uniform int y[], uniform int n, uniform int rounds) {
    uniform Buffers buffers = { x, y };
    step(&buffers, n, rounds);
}

// The pointer is overwritten as two integers.
noinline void copy_until(uniform Buffers *uniform buffers, uniform int last, uniform int n, uniform int out[]) {
    uniform int *uniform words = (uniform int *uniform)buffers;
    for (uniform int i = 0; i < n; i++) {
        out[i] = buffers->from[i];
        if (i == last) {
            words[0] = words[2];
            words[1] = words[3];
        }
    }
}

export void changed_by_halves(uniform int a[], uniform int b[], uniform int n, uniform int out[]) {
    uniform Buffers buffers = { a, b };
    copy_until(&buffers, 300, n, out);
}

// And in every round, so that there is no use in expecting it to stay.
noinline void copy_turns(uniform Buffers *uniform buffers, uniform int n, uniform int out[]) {
    uniform int *uniform words = (uniform int *uniform)buffers;
    for (uniform int i = 0; i < n; i++) {
        out[i] = buffers->from[i];
        for (uniform int k = 0; k < 2; k++) {
            uniform int word = words[k];
            words[k] = words[k + 2];
            words[k + 2] = word;
        }
    }
}

export void changed_often(uniform int a[], uniform int b[], uniform int n, uniform int out[]) {
    uniform Buffers buffers = { a, b };
    copy_turns(&buffers, n, out);
}

// What is stored through the pointer changes it: its first four elements are the pointers.
noinline void copy(uniform Buffers *uniform buffers, uniform int n) {
    for (uniform int i = 0; i < n; i++)
        buffers->to[i] = buffers->from[i];
}

export void through_itself(uniform int a[], uniform int out[], uniform int n) {
    uniform Buffers buffers = { a, out };
    uniform Buffers after = { a, out };
    uniform int *uniform words = (uniform int *uniform)&after;
    for (uniform int k = 0; k < 4; k++)
        a[k] = words[k];
    buffers.to = (uniform int *uniform)&buffers;
    copy(&buffers, n);
}

// The same where each round may trap, and the struct is so large that all rounds would be in bounds of it.
struct Large {
    uniform int *uniform from;
    uniform int *uniform to;
    uniform int rest[400];
};

noinline void divide(uniform Large *uniform large, uniform int by[], uniform int n) {
    for (uniform int i = 0; i < n; i++)
        large->to[i] = large->from[i] / by[i];
}

export void divided(uniform int a[], uniform int by[], uniform int out[], uniform int n) {
    uniform Large large, after;
    large.from = a;
    after.from = a;
    after.to = out;
    uniform int *uniform words = (uniform int *uniform)&after;
    for (uniform int k = 0; k < 4; k++)
        a[k] = words[k];
    large.to = (uniform int *uniform)&large;
    divide(&large, by, n);
}

// A struct that is nowhere is not looked at before the loop.
export uniform int nowhere(uniform int n) {
    uniform Arrays *uniform arrays = NULL;
    foreach (i = 0 ... n)
        arrays->z[i] = arrays->x[i];
    return 1;
}

noinline void copy_length(uniform Buffers *uniform buffers, uniform int n) {
    foreach (i = 0 ... n)
        buffers->to[i] = buffers->from[i];  //~ line: beyond
}

export void beyond(uniform int x[], uniform int n, uniform int length, uniform int out[]) {
    uniform Buffers buffers = { x, out };
    copy_length(&buffers, n);
    buffers.to = out + length;
    copy_length(&buffers, n);
}
