// One lane is read by all, and one is replaced.
export void f(uniform int out[]) {
    int x = programIndex + 10;
    uniform int last = extract(x, programCount - 1);
    x = insert(x, 2, last * 2);
    out[programIndex] = x;
}
// call: f(out=zeros:i32:16)
