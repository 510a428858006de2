// Both branches of an `if` run, each with its lanes.
export void f(uniform int out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = in[i];
        if (x % 3 == 0)
            x = x / 3 + 100;
        else
            x = x * 2 - 1;
        out[i] = x;
    }
}
// call: f(out=zeros:i32:37, in=iota:i32:37, n=37)
// call: f(out=zeros:i32:16, in=[0, 3, 6, 9, 1, 4, 7, 10, -3, -4, -5, -6, 99, 100, 101, 102], n=16)
