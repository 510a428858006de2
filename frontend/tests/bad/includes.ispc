#include "missing.isph"
#include <missing.isph>
#include missing
#include "../../Cargo.toml"
#inlcude "x"
#error the width must be a power of two
#warning slow
#pragma omp parallel for
int x;
#include "includes_itself.ispc"
#undef X Y
