// Prefix forms give the new value, postfix forms the old one.
//~ run: f(a=iota) pre[i] == i + 1; post[i] == i + 1; last[i] == i
export void f(uniform int a[], uniform int pre[], uniform int post[], uniform int last[]) {
    foreach (i = 0 ... 64) {
        int x = a[i];
        pre[i] = ++x;
        post[i] = x++;
        --x;
        last[i] = x--;
        last[i] = x;
    }
}
