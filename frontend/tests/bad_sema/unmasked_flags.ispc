inline noinline void g() { }
void h(int a = 3, int b) { }
float r()[3];
