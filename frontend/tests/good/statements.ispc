// All statements.
export void f(uniform float a[], uniform int n, int x) {
    ;
    { int inner = 1; }
    if (x) x = 1; else if (x > 1) { x = 2; } else x = 3;
    cif (x) { } else { }
    for (uniform int i = 0; i < n; ++i) x += i;
    for (;;) break;
    for (x = 0, n = 1; ; ) { continue; }
    cfor (int i = 0, j = 2; i < j; i++) { }
    while (x) x--;
    cwhile (x > 1) { }
    do x++; while (x < 3);
    cdo { x++; } while (x < 3);
    foreach (i = 0 ... n) a[i] = i;
    foreach (i = 0...n, j = 1 + 2 ... n * 2) { }
    foreach_tiled (i = 0 ... n, j = 0 ... n, k = 0 ... n) { }
    foreach_active (lane) { x = lane; }
    foreach_unique (value in x + 1) { x = value; }
    switch (x) {
    case 1:
    case 2 + 1:
        x = 1;
    case 4: { break; }
    default:
        int local = 2;
        x = local;
    case 5:
    }
    goto end;
    unmasked { x = 1; }
    everywhere { x = 2; }
    print("hello\n");
    print("% %\n", x, a[0]);
    assert(x > 0);
    assert(x > 0 && n, "positive");
    __assert("text", x);
    assume(x > 0);
    static_assert(sizeof(int) == 4);
    launch g(1);
    launch[n] g(1, 2);
    launch[n, 2] g();
    launch[n][2] g();
    launch[1, 2, 3] g();
    launch[1][2][3] g();
    sync;
    #pragma unroll 4
    for (;;) { }
    #pragma nounroll
    while (x) { }
    #pragma unroll
    foreach (i = 0 ... 3) { }
    struct Local { int a; } one, two;
    enum { P, Q };
    typedef int Integer;
    Integer y = P;
    int in = 3, crev = 4, everywhere = 5, assert = 6;
    in = crev + everywhere * assert;
    float declared(float);
end:
    return;
last: ;
    return x, 1;
}
