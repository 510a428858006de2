// Mathematical functions of REAL. Read once per SHAPE and REAL, after the kernel file that defines REAL and its constants.

#include "numbers.ispc"
#include "exp_log.ispc"
#include "trig.ispc"
#include "inverse_trig.ispc"
#include "pow.ispc"
#include "hyperbolic.ispc"
#include "erf.ispc"
#include "cbrt_hypot.ispc"
