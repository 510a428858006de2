uniform int n = 4;
uniform float table[n];
uniform float g = sin(1.0f);
export void f(uniform int k) {
    float a[k];
    float<k> v;
    static uniform int s = k;
}
