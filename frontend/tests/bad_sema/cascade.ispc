export void f(uniform float a[]) {
    Unknown x = 3;
    x.y = 4;
    float z = x + missing * 2;
    a[z] = g(z, missing);
    foreach (i = 0 ... missing) { a[i] = x; }
}
