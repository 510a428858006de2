extern uniform int a;
extern uniform float a;
uniform int b = 1;
uniform int b = 2;
extern uniform float c[];
uniform float c[4];
extern uniform float c[5];
extern int d;
void d();
void f() {
    extern uniform int e = 3;
    extern uniform int g;
}
void h() {
    extern uniform float g;
}
extern const uniform int n;
uniform int table[n];
