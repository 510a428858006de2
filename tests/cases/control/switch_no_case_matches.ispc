// Without a default nothing happens in the other lanes.
//~ run: f() out[i] == (i == 3 ? 1 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        switch (i) {
        case 3: out[i] = 1;
        }
    }
}
