// An increment of a memory location evaluates its address once.
//~ run: f(a=zeros:4) a[i] == (i == 0); result == 1
export uniform int f(uniform int a[]) {
    uniform int k = 0;
    a[k++]++;
    return k;
}
