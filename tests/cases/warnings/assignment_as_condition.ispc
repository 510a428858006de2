// An assignment where a condition is expected is warned of, unless it stands in parentheses of its own.
//~ run: f(n=0) result == 6
export uniform int f(uniform int n) {
    uniform int count = 0;
    if (n = 3)                           //~ warning: W0212
        count = n;
    while ((n = n - 1))
        ++count;
    for (; (n = n + 5) < 3;) { }
    if (count == 5 && (n = 1))
        ++count;
    return count;
}
