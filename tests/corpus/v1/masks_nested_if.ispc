// Masks narrow at each level, and come back.
export void f(uniform int out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = in[i], path = 0;
        if (x > 10) {
            path += 1;
            if (x & 1) {
                path += 2;
                if (x > 30) path += 4;
                else path += 8;
            } else
                path += 16;
            path += 32;
        } else if (x < 5)
            path = -x;
        out[i] = path;
    }
}
// call: f(out=zeros:i32:45, in=iota:i32:45, n=45)
