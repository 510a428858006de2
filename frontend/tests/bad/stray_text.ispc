int a; }
) int b;
-> int c;
@llvm int d;
int e;;
