// Bools are numbers when needed, and numbers bools.
export void f(uniform int out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        bool odd = in[i] & 1;
        bool big = in[i] > 5;
        int sum = (int)odd + (int)big;
        out[i] = sum * 10 + (int)(odd != big) + (int)(odd && big) * 2 + (int)(!odd || big) * 4;
    }
}
// call: f(out=zeros:i32:13, in=iota:i32:13, n=13)
