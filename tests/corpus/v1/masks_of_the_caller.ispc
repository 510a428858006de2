// A call starts with some lanes off: they compute nothing that is seen.
export void f(uniform int out[]) {
    out[programIndex] = programIndex + 1;
    if (programIndex & 1) out[programIndex] += 100;
}
// call: f(out=zeros:i32:64)
// call: f(out=zeros:i32:64) mask=0b1010
// call: f(out=zeros:i32:64) mask=0b0
