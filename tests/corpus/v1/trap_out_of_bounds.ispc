// The lowest lane that goes too far is told; nothing of the store is done.
export void f(uniform int out[], uniform int k) {
    out[programIndex] = 1;
    out[programIndex * k] = 2;
}
// call: f(out=zeros:i32:16, k=7)
// call: f(out=zeros:i32:16, k=1)
