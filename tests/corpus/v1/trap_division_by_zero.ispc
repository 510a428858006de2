// Only lanes that are on divide.
export void f(uniform int out[], const uniform int by[]) {
    int d = by[programIndex], x = 7;
    if (d != 0) x = 100 / d;
    out[programIndex] = x;
    out[programIndex] = x / (d - 3);
}
// call: f(out=zeros:i32:16, by=[1, 0, 2, 0, 5, 0, 7, 8, 0, 1, 1, 1, 1, 1, 1, 1])
// call: f(out=zeros:i32:16, by=[1, 0, 3, 3, 5, 0, 7, 8, 0, 1, 1, 1, 1, 1, 1, 1])
