//--- a missing semicolon
export void f(uniform float a[]) {
    float x = a[0]
    a[1] = x;
}
//--- a missing semicolon after a struct
struct P { float x; }
export void f(uniform float a[]) { }
//--- = for ==
export void f(uniform float a[], uniform int n) {
    if (n = 3) a[0] = 1;
}
//--- == for =
export void f(uniform float a[]) { a[0] == 1; }
//--- a missing closing brace
export void f(uniform float a[]) {
    if (a[0] > 1) {
        a[0] = 1;
}
export void g() { }
//--- a missing closing parenthesis
export void f(uniform float a[]) { a[0] = sqrt((a[1] + 1); }
//--- a brace too many
export void f(uniform float a[]) { a[0] = 1; } }
//--- a comment that does not end
export void f(uniform float a[]) { a[0] = 1; /* the rest
}
//--- a string that does not end
export void f() { print("hello\n); }
//--- a misspelled keyword
exprot void f(uniform float a[]) { }
//--- a misspelled qualifier
export void f(unifrom float a[]) { }
//--- a misspelled name
export void f(uniform float data[]) { dta[0] = 1; }
//--- a misspelled member
struct P { float position; };
export void f(uniform float a[]) { P p; p.positon = 1; a[0] = 1; }
//--- a misspelled type
struct Vector { float x, y; };
export void f(uniform float a[]) { Vecter v; }
//--- a semicolon after a header
export void f(uniform float a[], uniform int n);
{
    a[0] = n;
}
//--- an else without if
export void f(uniform float a[]) {
    if (a[0] > 0); a[0] = 1;
    else a[0] = 2;
}
//--- a missing return type
export f(uniform float a[]) { a[0] = 1; }
//--- a file that is not there
#include "helpers.isph"
export void f() { }
//--- a misspelled directive
#inlcude "helpers.isph"
export void f() { }
//--- an #if without its end
#if 1
export void f() { }
//--- a number with a wrong suffix
export uniform float f() { return 1.5x; }
//--- a keyword as a name
export void f(uniform float new[]) { new[0] = 1; }
