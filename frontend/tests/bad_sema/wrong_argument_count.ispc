float mix(float a, float b, float t = 0.5) { return a; }
export void f(float x) {
    float y = mix(x);
    float z = mix(x, x, x, x);
    float s = sin();
}
