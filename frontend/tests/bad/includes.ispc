#include "missing.isph"
// What would follow from it is not told.
Vector f(Vector a) { return a + b; }
#include <missing.isph>
