int task = 3;
float float;
void new(int export) { }
struct S { int uniform; };
void f() { int launch = 2; goto if; }
