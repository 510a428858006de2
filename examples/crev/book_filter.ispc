// Book filter: copies the lines of a book that contain a pattern. A line is matched by one lane, but copied by all of them.
// (Moreira, Collange, Pereira: Function Call Re-Vectorization, PPoPP 2017, algorithms 1 to 4. docs/crev.md explains it.)
//
// `book` and `out` hold `lines` lines of `length` characters; lines that do not match stay in `out` as they were.

/// Does the line that begins at `line` contain the pattern? Each lane looks at a line of its own.
static inline bool contains(const uniform int8 line[], int at, uniform int length,
                            const uniform int8 pattern[], uniform int size)
{
    bool found = false;
    for (uniform int from = 0; from + size <= length; ++from) {
        int k = 0;
        while (k < size && line[at + from + k] == pattern[k])
            ++k;
        found |= k == size;
        if (all(found))
            break;
    }
    return found;
}

/// Copies `n` characters, as many at a time as there are lanes. All lanes must be on: an idle one would leave gaps.
static void copy(const uniform int8 from[], uniform int8 to[], uniform int at, uniform int n)
{
    for (int i = programIndex; i < n; i += programCount)
        to[at + i] = from[at + i];
}

task void copy_task(const uniform int8 from[], uniform int8 to[], uniform int at, uniform int n)
{
    copy(from, to, at, n);
}

/// One element at a time.
export void filter_seq(const uniform int8 book[], uniform int lines, uniform int length,
                       const uniform int8 pattern[], uniform int size, uniform int8 out[])
{
    for (uniform int line = 0; line < lines; ++line) {
        uniform int at = line * length;
        uniform bool found = false;
        for (uniform int from = 0; from + size <= length && !found; ++from) {
            uniform int k = 0;
            while (k < size && book[at + from + k] == pattern[k])
                ++k;
            found = k == size;
        }
        if (found) {
            for (uniform int i = 0; i < length; ++i)
                out[at + i] = book[at + i];
        }
    }
}

/// Algorithm 1: each lane copies its own line while the others wait.
export void filter_naive(const uniform int8 book[], uniform int lines, uniform int length,
                         const uniform int8 pattern[], uniform int size, uniform int8 out[])
{
    foreach (line = 0 ... lines) {
        int at = line * length;
        if (contains(book, at, length, pattern, size)) {
            for (uniform int i = 0; i < length; ++i)
                out[at + i] = book[at + i];
        }
    }
}

/// Algorithm 2, warp-synchronous: all lanes go through the copies of all lanes together. What to copy travels by shuffles, and
/// lanes that have nothing to copy say so by a length of zero, since no lane may be idle here.
export void filter_par(const uniform int8 book[], uniform int lines, uniform int length,
                       const uniform int8 pattern[], uniform int size, uniform int8 out[])
{
    for (uniform int base = 0; base < lines; base += programCount) {
        int line = base + programIndex;
        int at = line * length;
        int n = 0;
        if (line < lines && contains(book, at, length, pattern, size))
            n = length;
        for (uniform int lane = 0; lane < programCount; ++lane) {
            int at_lane = shuffle(at, lane);
            int n_lane = shuffle(n, lane);
            for (int i = programIndex; i < n_lane; i += programCount)
                out[at_lane + i] = book[at_lane + i];
        }
    }
}

/// Algorithm 3, dynamic parallelism: each lane with a match starts a task.
export void filter_launch(const uniform int8 book[], uniform int lines, uniform int length,
                          const uniform int8 pattern[], uniform int size, uniform int8 out[])
{
    foreach (line = 0 ... lines) {
        int at = line * length;
        if (contains(book, at, length, pattern, size)) {
            foreach_active (lane)
                launch copy_task(book, out, extract(at, lane), length);
        }
    }
}

/// Algorithm 4: each lane with a match calls `copy` with all lanes on.
export void filter_crev(const uniform int8 book[], uniform int lines, uniform int length,
                        const uniform int8 pattern[], uniform int size, uniform int8 out[])
{
    foreach (line = 0 ... lines) {
        int at = line * length;
        if (contains(book, at, length, pattern, size))
            crev copy(book, out, at, length);
    }
}
