// A uniform condition takes one branch.
export void f(uniform int out[], uniform int k) {
    int x = programIndex;
    if (k > 2) x += k;
    else x -= k;
    out[programIndex] = x;
}
// call: f(out=zeros:i32:16, k=3)
// call: f(out=zeros:i32:16, k=2)
