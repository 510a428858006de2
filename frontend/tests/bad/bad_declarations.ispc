int f()[3];
int a[3]();
int (g[2])(int);
void h(int 3x, , float);
struct { float x; } 5;
int static;
enum E { A, B = , C };
enum class F { X };
float while = 3;
void v(void x, typedef int t) { }
