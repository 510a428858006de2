void f(uniform int n) {
    int a = ;
    int b = n + ;
    int c = (n * 2;
    int d = n[];
    f(n, );
    int e = n ? 1;
}
