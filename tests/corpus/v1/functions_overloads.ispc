// The function that fits is called: by type, by variability, by number.
int which(int x) { return 1; }
int which(float x) { return 2; }
int which(uniform int x) { return 3; }
int which(int x, int y) { return 4; }
export void f(uniform int out[], uniform int u) {
    int v = programIndex;
    float w = v;
    out[programIndex] = which(v) * 1000 + which(w) * 100 + which(u) * 10 + which(v, v);
}
// call: f(out=zeros:i32:16, u=1)
