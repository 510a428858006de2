#include missing
#inlcude "x"
#error the width must be a power of two
#warning slow
#pragma omp parallel for
int x;
#define X
#undef X Y
