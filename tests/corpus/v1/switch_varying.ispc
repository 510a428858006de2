// Cases fall through, break and default, lane by lane.
export void f(uniform int out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        int r = 0;
        switch (in[i]) {
        case 0:
            r = 1;
            break;
        case 1:
            r += 10;
        case 2:
            r += 20;
            if (i > 8) break;
        case 3:
            r += 40;
            break;
        default:
            r = -in[i];
        case 9:
            r += 1000;
        }
        out[i] = r;
    }
}
// call: f(out=zeros:i32:16, in=[0, 1, 2, 3, 4, 9, 1, 0, 2, 2, 1, 3, 9, -7, 100, 0], n=16)
