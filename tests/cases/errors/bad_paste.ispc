#define JOIN(a, b) a##b
uniform int x = 5 JOIN(+, 4); //~ error: E0016
