//--- a function that does not exist
export void f(uniform float a[]) { a[0] = squareroot(a[1]); }
//--- a function of the C library
export void f(uniform float a[]) { a[0] = sqrtf(a[1]) + fabs(a[2]); }
//--- printf
export void f(uniform int n) { printf("n = %d\n", n); }
//--- too few arguments
float mix(float a, float b, float t) { return a + (b - a) * t; }
export void f(uniform float a[]) { a[programIndex] = mix(a[0], a[1]); }
//--- an argument of the wrong type
struct P { float x; };
float length(P &p) { return abs(p.x); }
export void f(uniform float a[]) { a[programIndex] = length(a[0]); }
//--- a missing return
float g(float x) { float y = x * 2; }
export void f(uniform float a[]) { a[programIndex] = g(1); }
//--- a return with a value from void
void g(float x) { return x; }
//--- a bare return
float g(float x) { if (x > 0) return; return x; }
//--- break outside a loop
export void f(uniform int n) { if (n > 3) break; }
//--- continue outside a loop
export void f(uniform int n) { if (n > 3) continue; }
//--- % of floats
float g(float x) { return x % 2; }
//--- bits of floats
float g(float x) { return x | 1; }
//--- an integer division by zero
int g(int x) { return x / 0; }
//--- a member of a pointer with a dot
struct P { float x; };
void g(P * uniform p) { p.x = 1; }
//--- an arrow on a struct
struct P { float x; };
void g(P p) { p->x = 1; }
//--- an operator on structs
struct P { float x; };
P g(P a, P b) { return a + b; }
//--- a variable declared twice
void g(int x) { int y = x; float y = 2; }
//--- a constant assigned
void g(const int x) { x = 3; }
//--- an array's length that is not constant
void g(uniform int n) { uniform float a[n]; a[0] = 1; }
//--- an index that is no integer
struct P { float x; };
void g(uniform float a[], P p) { a[p] = 2; }
//--- a call of something that is no function
void g(float x) { x(3); }
//--- an integer for a pointer
void g() { uniform int * uniform p = 5; *p = 1; }
//--- more values than elements
void g() { uniform float a[2] = { 1, 2, 3 }; a[0] = 1; }
//--- a print with too few values
export void f(uniform int n) { print("% of %\n", n); }
//--- a print of a struct
struct P { float x; };
void g(P p) { print("%\n", p); }
//--- a component that a short vector has not
float g(float<3> v) { return v.w; }
//--- a template that cannot be deduced
template <typename T> T zero() { return 0; }
float g() { return zero(); }
//--- two functions that fit equally well
float g(float a, int b) { return a; }
float g(int a, float b) { return b; }
float h() { return g(1, 2); }
//--- compound assignment that loses the fraction
int g(int i) { i *= 0.5; return i; }
