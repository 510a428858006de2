// Functions with all their flags, operators, polymorphic types.
export void exported(uniform float data[], uniform int count) { }
task void tasked() { }
static inline unmasked float helper(float, int unnamed = 3, float x[] = NULL) { return unnamed; }
noinline extern "C" void plain();
__vectorcall void convention();
void attributed(uniform float *uniform p __attribute__((noescape))) __attribute__((cold));
struct S { float re, im; };
S operator+(S a, S b) { return a; }
struct S operator-(struct S a) { return a; }
bool operator==(const S &a, const S &b) { return a.re == b.re; }
S &operator+=(S &a, S b) { a.re += b.re; return a; }
S operator++(S &a) { return a; }
S operator++(S &a, int) { return a; }
S operator<<(S a, int b) { return a; }
floating$0 scale(floating$0 x, uniform integer n, number$12 y) { floating$0 z = x; return z; }
int number(int integer) { int floating = integer; return floating * number(1); }
void takes(void (*f)(int), int g(float)) { f(1); g(2); }
void nothing(void);
