// A loop made of goto.
//~ run: f(n=5) result == 15
export uniform int f(uniform int n) {
    uniform int sum = 0;
again:
    if (n == 0) goto done;
    sum += n;
    --n;
    goto again;
done:
    return sum;
}
