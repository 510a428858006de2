//--- a varying value in a uniform variable
export void f(uniform float a[]) {
    uniform float x = a[programIndex];
    a[0] = x;
}
//--- an array parameter without uniform
export void f(float a[], uniform int n) {
    foreach (i = 0 ... n) a[i] = a[i] * 2;
}
//--- a scalar parameter without uniform used as a bound
export void f(uniform float a[], int n) {
    foreach (i = 0 ... n) a[i] = 0;
}
//--- a sum into a uniform variable
export uniform float f(uniform float a[], uniform int n) {
    uniform float sum = 0;
    foreach (i = 0 ... n) sum += a[i];
    return sum;
}
//--- a varying result of a uniform function
uniform float g(float x) { return x * 2; }
//--- the index of foreach changed
export void f(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) i += 2;
}
//--- foreach with a C header
export void f(uniform float a[], uniform int n) {
    foreach (int i = 0; i < n; i++) a[i] = 0;
}
//--- foreach with two dots
export void f(uniform float a[], uniform int n) {
    foreach (i = 0 .. n) a[i] = 0;
}
//--- foreach with in
export void f(uniform float a[], uniform int n) {
    foreach (i in 0 ... n) a[i] = 0;
}
//--- a varying number of tasks
task void work(uniform float a[]) { a[taskIndex] = 1; }
export void f(uniform float a[]) { launch[programIndex] work(a); }
//--- a task called like a function
task void work(uniform float a[]) { a[taskIndex] = 1; }
export void f(uniform float a[]) { work(a); }
//--- taskIndex outside a task
export void f(uniform float a[]) { a[taskIndex] = 1; }
//--- the address of a varying element as a reference
void set(uniform float &x) { x = 1; }
export void f(uniform float a[]) { set(a[programIndex]); }
//--- a varying struct exported
struct P { float x, y; };
export void f(P p) { }
//--- a uniform pointer from a varying one
export void f(uniform float a[]) {
    uniform float * uniform p = a + programIndex;
    *p = 1;
}
//--- a varying value assigned in a nested foreach
export void f(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float sum = 0;
        foreach (j = 0 ... n) sum += a[j];
        a[i] = sum;
    }
}
//--- goto under a varying condition
export void f(uniform float a[]) {
    if (programIndex > 2) goto done;
    a[0] = 1;
done:
    return;
}
//--- a reduction of a uniform value
export uniform float f(uniform float a[]) { return reduce_add(a); }
