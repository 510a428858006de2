// y = a*x + y: two streams in, one out.
export void saxpy(uniform int n, uniform float a, const uniform float x[], uniform float y[]) {
    foreach (i = 0 ... n)
        y[i] = a * x[i] + y[i];
}
