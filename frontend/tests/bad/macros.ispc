#define TWICE(x) x + x
#define BAD(x, x) x
#define PASTE(a, b) a ## b
#define STR(x) #y
#define TWICE(x) 2 * x
int a = TWICE(1, 2);
int b = PASTE(+, x);
int c = TWICE(1;
