#include "missing.isph"
#include <missing.isph>
#include missing
#include "../../../secret"
#inlcude "x"
#error the width must be a power of two
#warning slow
#pragma omp parallel for
int x;
