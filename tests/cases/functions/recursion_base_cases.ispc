// What functions that call themselves do at last: with loops and calls, in all lanes and in some, behind a condition that holds and one
// that does not, as results, through pointers, and again and again.
//~ run: f() numbers[i] == (i < 6 ? 40 * (i == 0 ? 610 : i == 1 ? 1364 : i == 2 ? 3 * 512 : i == 3 ? 2048 : i == 4 ? 32640 : 9) : 0)
//~ also: lanes[i] == (i < W ? 40 * (144 * i + 89 + (i % 3 == 0 ? 144 * i + 89 : 0)) : 0); data[i] == (i < 48 ? i * 3 : 0)
noinline uniform int fibonacci(uniform int n) {
    if (n < 2)
        return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

/// The base case comes last.
noinline uniform int lucas(uniform int n) {
    if (n > 1)
        return lucas(n - 1) + lucas(n - 2);
    return n == 0 ? 2 : 1;
}

noinline uniform int three() {
    return 3;
}

/// The base case calls another function.
noinline uniform int leaves(uniform int depth) {
    if (depth == 0)
        return three();
    return leaves(depth - 1) + leaves(depth - 1);
}

/// The base case is a loop, and has no result.
noinline void count(uniform int depth, uniform int &sum) {
    if (depth <= 2) {
        for (uniform int i = 0; i < 1 << depth; ++i)
            ++sum;
        return;
    }
    count(depth - 1, sum);
    count(depth - 1, sum);
}

/// The base case is reached in one of two ways, of which one leads on through another function.
noinline uniform int through(uniform int depth, uniform int calls);

static uniform int between(uniform int depth, uniform int calls) {
    return through(depth - 1, calls + 1) + through(depth - 1, calls + 2);
}

noinline uniform int through(uniform int depth, uniform int calls) {
    if (depth < 1)
        return calls % 2;
    return between(depth, calls) + through(depth - 1, calls) + through(depth - 1, calls);
}

/// Lanes have results of their own.
noinline int each(uniform int n) {
    if (n < 2)
        return n == 0 ? programIndex : programIndex + 1;
    return each(n - 1) + each(n - 2);
}

/// The base case writes to memory, of all lanes that are active.
noinline void fill(uniform int to[], uniform int from, uniform int n) {
    if (n <= 8) {
        foreach (i = from ... from + n)
            to[i] = i * 3;
        return;
    }
    fill(to, from, n / 2);
    fill(to, from + n / 2, n - n / 2);
}

typedef uniform int (*Function)(uniform int n);

export void f(uniform int numbers[], uniform int lanes[], uniform int data[]) {
    uniform Function pointer = fibonacci;
    int sum = 0;
    for (uniform int round = 0; round < 40; ++round) {
        numbers[0] += round % 2 == 0 ? fibonacci(15) : pointer(15);
        numbers[1] += lucas(15);
        numbers[2] += leaves(9);
        uniform int ones = 0;
        count(11, ones);
        numbers[3] += ones;
        numbers[4] += through(8, round % 2 == 0 ? 0 : 2);
        sum += each(11);
        if (programIndex % 3 == 0)
            sum += each(11);
        fill(data, 0, 48);
        numbers[5] += 9;
    }
    lanes[programIndex] = sum;
}
