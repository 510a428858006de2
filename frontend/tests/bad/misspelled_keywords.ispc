unifrom float scale = 2;
exprot void f(uniform float a[], uniform int n) {
    forech (i = 0 ... n) {
        flaot x = a[i];
        fi (x > 0) {
            x = 1;
        } esle {
            x = 2;
        }
        a[i] = x;
    }
    retrun;
}
int g(int x) { retrun x; }
