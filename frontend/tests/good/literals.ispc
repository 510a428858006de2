// Numbers, characters and strings.
int a = 0 + 15 + 017 + 0xFf + 0b101 + 4k + 2M + 1G + 7u + 8ul + 9ll + 10ULL + 0x10k + 3000000000 + 5000000000 + 18446744073709551615;
float b = 1.0 + .5f + 2. + 1e3 + 1.5e-3f + 0x1p-3 + 0x1.8p1 + 3.25F;
double c = 1.0d + 1.5d3 + 2d-3 + .5D + 0x1.8p1d;
float16 d = 1.5f16 + 2.F16 + 1e2f16;
int8 e = 'a' + '\n' + '\0' + '\x41' + '\'';
void f() { print("tab\t quote\" \x41\102 µ"); }
