unsigned long long a;
long b;
char *uniform name;
short c[4];
auto d = 3;
volatile int e;
void f(unsigned char x, const long double y) { }
half h;
