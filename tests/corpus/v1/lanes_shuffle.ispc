// Values of other lanes: broadcast, rotate, shift, shuffle.
export void f(uniform int out[]) {
    int x = programIndex * programIndex + 1;
    int a = broadcast(x, 1), b = rotate(x, 1), c = shift(x, 1);
    int d = shuffle(x, programCount - 1 - programIndex);
    out[4 * programIndex] = a;
    out[4 * programIndex + 1] = b;
    out[4 * programIndex + 2] = c;
    out[4 * programIndex + 3] = d;
}
// call: f(out=zeros:i32:64)
