// A two-dimensional parameter.
//~ run: f(a=zeros:32, h=4) a[i] == i / 8 * 100 + i % 8
export void f(uniform int a[][8], uniform int h) {
    foreach (y = 0 ... h, x = 0 ... 8) a[y][x] = y * 100 + x;
}
