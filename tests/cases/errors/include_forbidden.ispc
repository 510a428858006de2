#include <no_such_file.isph> //~ error: E0013
export void f() { }
