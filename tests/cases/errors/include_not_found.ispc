#include <no_such_file.isph> //~ error: E0012
export void f() { }
