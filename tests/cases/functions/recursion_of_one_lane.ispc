// Lanes recurse to different depths, so that most calls are of one lane; some read what the others hold, which have returned.
//~ run: plain(out=zeros:128, n=128) out[i] == 0
//~ run: across(out=zeros:128, n=128) out[i] == 0
//~ run: parted(out=zeros:128, n=120) out[i] == 0
//~ run: numbers(out=zeros:128, n=128) out[i] == 0
//~ run: rounds(out=zeros:128, n=128) out[i] == 0
static inline uniform int deepest() { return 12; }
static inline int depth_of(int i) { return i % 61 == 35 ? deepest() : i & 1; }

static int down(int depth, int x) {
    if (depth <= 0)
        return x;
    int y = x * 3 + depth;
    return down(depth - 1, y) + y;
}
export void plain(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = i, sum = 0;
        for (int depth = depth_of(i); depth > 0; --depth) {
            x = x * 3 + depth;
            sum += x;
        }
        out[i] = down(depth_of(i), i) - (x + sum);
    }
}

// What a lane computes does not depend on whether it is active, so that others find it.
static int down_across(int depth, int x) {
    if (depth <= 0)
        return x;
    int y = x * 3 + depth;
    int below = down_across(depth - 1, y);
    return below + rotate(y, 1);
}
export void across(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int expected = 0;
        for (uniform int level = deepest(); level >= 0; --level) {
            int x = i, y = 0;
            for (uniform int k = 0; k <= level; ++k) {
                int depth = depth_of(i) - k;
                y = x * 3 + depth;
                x = k < level ? y : x;
            }
            int turned = rotate(y, 1);
            expected = depth_of(i) <= level ? (depth_of(i) == level ? x : 0) : expected + turned;
        }
        out[i] = down_across(depth_of(i), i) - expected;
    }
}

// One call in the arm that one lane takes, one in the other's; then both go on.
static int fork(int depth, int x) {
    if (depth <= 0)
        return x & 15;
    int sum = depth;
    if ((x & 3) == 1)
        sum += fork(depth - 1, x + 1);
    else
        sum -= fork(depth - 2, x + 3);
    sum += fork(depth - 3, x * 2 + sum);
    return sum;
}
static uniform int fork_alone(uniform int depth, uniform int x) {
    if (depth <= 0)
        return x & 15;
    uniform int sum = depth;
    if ((x & 3) == 1)
        sum += fork_alone(depth - 1, x + 1);
    else
        sum -= fork_alone(depth - 2, x + 3);
    sum += fork_alone(depth - 3, x * 2 + sum);
    return sum;
}
export void parted(uniform int out[], uniform int n) {
    foreach (i = 0 ... n)
        out[i] = fork(depth_of(i), i);
    for (uniform int i = 0; i < n; ++i)
        out[i] -= fork_alone(i % 61 == 35 ? deepest() : i & 1, i);
}

// Lane numbers, and what follows from them, are others in other lanes, also where one lane goes on behind a call or in a loop.
static int down_numbers(int depth, int x) {
    if (depth <= 0)
        return x;
    int below = down_numbers(depth - 1, x + 1);
    return below + rotate(programIndex * 3, 1) + rotate(rotate(x, 1), 1);
}
static inline int turned(int by) { return (programIndex + by) % programCount; }
export void numbers(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int depth = depth_of(i);
        int second = i - programIndex + turned(2);
        int expected = i + depth * (1 + 3 * turned(1) + second) + depth * (depth - 1) / 2;
        out[i] = down_numbers(depth, i) - expected;
    }
}
export void rounds(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int most = depth_of(i) * 20, k = 0, sum = 0;
        uniform int round = 0;
        while (k < most) {
            ++round;
            sum += rotate(programIndex * round, 1);
            ++k;
        }
        out[i] = sum - most * (most + 1) / 2 * turned(1);
    }
}
