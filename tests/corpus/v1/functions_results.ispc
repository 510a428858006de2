// Results of exports: one number for the gang.
export uniform int64 f(const uniform int in[], uniform int n) {
    int sum = 0;
    foreach (i = 0 ... n) sum += in[i] * in[i];
    return reduce_add(sum);
}
// call: f(in=iota:i32:50, n=50)
// call: f(in=[], n=0)
