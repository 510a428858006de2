__attribute__((aligned(x))) int a;
__attribute__((packed) int b;
__attribute__ int c;
__attribute__((deprecated("old"))) void f();
