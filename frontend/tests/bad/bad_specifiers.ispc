uniform varying int a;
int float b;
unsigned float c;
signed unsigned int d;
extern "Fortran" void f();
typedef unsigned int uint32;
int;
uniform x = 3;
f(int x) { return x; }
const static y = 4;
