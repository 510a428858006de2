// The inner product of two vectors: one chain of additions per lane.
export uniform float dot(uniform int n, const uniform float x[], const uniform float y[]) {
    float sum = 0;
    foreach (i = 0 ... n)
        sum += x[i] * y[i];
    return reduce_add(sum);
}
