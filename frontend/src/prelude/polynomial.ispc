// Horner evaluation with fused multiply-adds: __HORNERn(x, c0, ..., c(n-1)) is c0 + c1 x + ... + c(n-1) x^(n-1).
// Nested calls, not a chain of assignments: an expression needs no blending under a divergent mask.

#define __HORNER2(x, a, b) __op_fma(b, x, a)
#define __HORNER3(x, c0, c1, c2) \
    __op_fma(__HORNER2(x, c1, c2), x, c0)
#define __HORNER4(x, c0, c1, c2, c3) \
    __op_fma(__HORNER3(x, c1, c2, c3), x, c0)
#define __HORNER5(x, c0, c1, c2, c3, c4) \
    __op_fma(__HORNER4(x, c1, c2, c3, c4), x, c0)
#define __HORNER6(x, c0, c1, c2, c3, c4, c5) \
    __op_fma(__HORNER5(x, c1, c2, c3, c4, c5), x, c0)
#define __HORNER7(x, c0, c1, c2, c3, c4, c5, c6) \
    __op_fma(__HORNER6(x, c1, c2, c3, c4, c5, c6), x, c0)
#define __HORNER8(x, c0, c1, c2, c3, c4, c5, c6, c7) \
    __op_fma(__HORNER7(x, c1, c2, c3, c4, c5, c6, c7), x, c0)
#define __HORNER9(x, c0, c1, c2, c3, c4, c5, c6, c7, c8) \
    __op_fma(__HORNER8(x, c1, c2, c3, c4, c5, c6, c7, c8), x, c0)
#define __HORNER10(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9) \
    __op_fma(__HORNER9(x, c1, c2, c3, c4, c5, c6, c7, c8, c9), x, c0)
#define __HORNER11(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10) \
    __op_fma(__HORNER10(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10), x, c0)
#define __HORNER12(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11) \
    __op_fma(__HORNER11(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11), x, c0)
#define __HORNER13(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12) \
    __op_fma(__HORNER12(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12), x, c0)
#define __HORNER14(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13) \
    __op_fma(__HORNER13(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13), x, c0)
#define __HORNER15(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14) \
    __op_fma(__HORNER14(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14), x, c0)
#define __HORNER16(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15) \
    __op_fma(__HORNER15(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15), x, c0)
#define __HORNER17(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16) \
    __op_fma(__HORNER16(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16), x, c0)
#define __HORNER18(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17) \
    __op_fma(__HORNER17(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17), x, c0)
#define __HORNER19(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18) \
    __op_fma(__HORNER18(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18), x, c0)
#define __HORNER20(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19) \
    __op_fma(__HORNER19(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19), x, c0)
#define __HORNER21(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20) \
    __op_fma(__HORNER20(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20), x, c0)
#define __HORNER22(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21) \
    __op_fma(__HORNER21(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21), x, c0)
#define __HORNER23(x, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22) \
    __op_fma(__HORNER22(x, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22), x, c0)
