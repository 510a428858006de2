// Lanes that hit one element all count.
export void f(uniform int bins[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) atomic_add_global(&bins[in[i] & 7], 1);
}
// call: f(bins=zeros:i32:8, in=random:i32:100:12, n=100)
