export uniform float f(uniform float a[]) {
    uniform float sum = 0;
    foreach (i = 0 ... 16) { sum += a[i]; }
    uniform int k = programIndex;
    return a[programIndex];
}
