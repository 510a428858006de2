// Everything that exists as a varying and as a uniform function. Read once per SHAPE by prelude.ispc.

#include "types.ispc"
#include "basic.ispc"
#include "bits.ispc"
#include "saturate.ispc"
#include "dot.ispc"

#include "float_kernel.ispc"
#include "real.ispc"
#include "double_kernel.ispc"
#include "real.ispc"

#include "half.ispc"
#include "color.ispc"
#include "random.ispc"
