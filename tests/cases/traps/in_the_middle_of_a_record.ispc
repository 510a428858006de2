// A member of the last record is not there: what was stored before it in the same gang is, and what comes behind it is not.
//~ run: stores(a=iota:1920, out=zeros:1919, n=640) out[i] == (i % 3 == 2 && i / 3 >= 640 - W ? 0 : i)
//~   trap: out_of_bounds lane=W-1 line=third
export void stores(uniform float a[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[3 * i], y = a[3 * i + 1], z = a[3 * i + 2];
        out[3 * i] = x;
        out[3 * i + 1] = y;
        out[3 * i + 2] = z; //~ line: third
    }
}

//~ run: loads(a=iota:1918, out=zeros:1920, n=640) out[i] == (i / 3 >= 640 - W || i % 3 == 2 ? 0 : i)
//~   trap: out_of_bounds lane=W-1 line=second
export void loads(uniform float a[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[3 * i];
        float y = a[3 * i + 1]; //~ line: second
        out[3 * i] = x;
        out[3 * i + 1] = y;
    }
}

// Records that lie downwards: the last lane's begins before the array.
//~ run: below(a=iota:1280, n=640, from=638) a[i] == (i / 2 > W - 2 && i < 1278 ? (i % 2 == 0 ? i + 1 : i - 1) : i)
//~   trap: out_of_bounds lane=W-1 line=before
export void below(uniform int a[], uniform int n, uniform int from) {
    foreach (i = 0 ... n) {
        int x = a[2 * (from - i)]; //~ line: before
        int y = a[2 * (from - i) + 1];
        a[2 * (from - i)] = y;
        a[2 * (from - i) + 1] = x;
    }
}

// Sums of a pointer that is far outside of its array are not brought back by what is added to it.
//~ run: far(a=iota:1920, n=640, by=0) a[i] == (i % 3 == 0 ? i + 1 : i)
//~ run: far(a=iota:1920, n=640, by=1) a[i] == i
//~   trap: out_of_bounds line=there
void take(uniform int * uniform p) {
    int y = p[3 * programIndex + 1]; //~ line: there
    p[3 * programIndex] = y;
}
export void far(uniform int a[], uniform int n, uniform int by) {
    uniform int64 huge = (uniform int64)by << 37;
    uniform int * uniform p = &a[0] + huge;
    uniform int back = by ? 2147483000 : 0;
    for (uniform int first = 0; first < n; first += programCount)
        take(&p[3 * first + back]);
}
