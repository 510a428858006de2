// Cube roots of doubles by Newton's method, until each has converged.
export void newton(uniform int n, const uniform double x[], uniform double root[]) {
    foreach (i = 0 ... n) {
        double a = x[i];
        double r = a > 1 ? a : 1.0d;
        double change = 1;
        while (change > 1e-12d * r) {
            double next = (2 * r + a / (r * r)) / 3;
            change = abs(next - r);
            r = next;
        }
        root[i] = r;
    }
}
