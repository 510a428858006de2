task void t(uniform int x) { }
void f(uniform int n) {
    launch[n];
    launch[n, n, n, n] t(1);
    launch t;
    launch < t(2) >;
    launch 3;
    sync
}
