#define A(x) ((((((((x))))))))
#define B(x) A(A(A(A(A(A(A(A(x))))))))
export uniform int f() {
    return B(B(B(B(B(B(1)))))); //~ error: E0108
}
