#define JOIN(a, b) a##b
uniform int x = JOIN(+, *); //~ error: E0016
