// String matching: marks where a pattern begins in a text. (Moreira, Collange, Pereira: Function Call Re-Vectorization,
// PPoPP 2017, algorithm 6.)
//
// `found[i]` becomes 1 where the pattern begins at `text[i]`. `failure` has room for `size` numbers; only Seq uses it.

/// Compares the pattern with the text at one place, a character per lane.
static void compare(const uniform int8 text[], uniform int at, const uniform int8 pattern[], uniform int size,
                    uniform int8 found[])
{
    bool same = true;
    foreach (i = 0 ... size)
        same &= pattern[i] == text[at + i];
    if (all(same))
        found[at] = 1;
}

task void compare_task(const uniform int8 text[], uniform int at, const uniform int8 pattern[], uniform int size,
                       uniform int8 found[])
{
    compare(text, at, pattern, size, found);
}

/// The algorithm of Knuth, Morris and Pratt, one character at a time.
export void search_seq(const uniform int8 text[], uniform int n, const uniform int8 pattern[], uniform int size,
                       uniform int failure[], uniform int8 found[])
{
    failure[0] = 0;
    uniform int k = 0;
    for (uniform int i = 1; i < size; ++i) {
        while (k > 0 && pattern[k] != pattern[i])
            k = failure[k - 1];
        if (pattern[k] == pattern[i])
            ++k;
        failure[i] = k;
    }
    k = 0;
    for (uniform int i = 0; i < n; ++i) {
        while (k > 0 && pattern[k] != text[i])
            k = failure[k - 1];
        if (pattern[k] == text[i])
            ++k;
        if (k == size) {
            found[i - size + 1] = 1;
            k = failure[k - 1];
        }
    }
}

/// Each lane compares at its own place, for as long as one of them finds equal characters.
export void search_par(const uniform int8 text[], uniform int n, const uniform int8 pattern[], uniform int size,
                       uniform int failure[], uniform int8 found[])
{
    foreach (i = 0 ... n - size + 1) {
        int j = 0;
        while (j < size && pattern[j] == text[i + j])
            ++j;
        if (j == size)
            found[i] = 1;
    }
}

/// Each lane whose first character fits starts a task that compares the rest.
export void search_launch(const uniform int8 text[], uniform int n, const uniform int8 pattern[], uniform int size,
                          uniform int failure[], uniform int8 found[])
{
    foreach (i = 0 ... n - size + 1) {
        if (pattern[0] == text[i]) {
            foreach_active (lane)
                launch compare_task(text, extract(i, lane), pattern, size, found);
        }
    }
}

/// Each lane whose first character fits has the rest compared by all lanes.
export void search_crev(const uniform int8 text[], uniform int n, const uniform int8 pattern[], uniform int size,
                        uniform int failure[], uniform int8 found[])
{
    foreach (i = 0 ... n - size + 1) {
        if (pattern[0] == text[i])
            crev compare(text, i, pattern, size, found);
    }
}
