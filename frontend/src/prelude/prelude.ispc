// The standard library of the language, written in the language itself. This file is the root: compile it, and what it
// includes, before a user's program, and lower a function only when it is used.
//
// Primitives. `__op_NAME(args)` names one operation of the bytecode's operation table. Its element type is that of the
// arguments; it is uniform if all of them are. Nothing here is fused, reordered or approximated: a multiply-add is fused
// only where __op_fma says so, whatever fp= option the user's own code is compiled with.
//
// Shapes. Files listed in shapes.ispc are read twice, with SHAPE defined as `varying` and as `uniform`; the mathematical
// ones moreover once for float and once for double (REAL, INT, UINT and the coefficients come from float_kernel.ispc
// and double_kernel.ispc). So each function stands in the sources once.
//
// Fast. With __FP_FAST the library of the mode fast is compiled: some mathematical functions leave out the sums that carry the
// errors of roundings. They too are made of exact operations in a fixed order, so their bits are the same everywhere. Subnormal numbers
// count as 0 in their exponentials and logarithms; what is infinite or not a number is so in both.
//
// Speed. Straight-line code serves the usual arguments of all lanes. Rare arguments (subnormal, huge, infinite, NaN) are
// repaired inside an `if`, which costs next to nothing while no active lane needs it. Values that are only initialised,
// never assigned, need no blending, so a new name is cheaper than an assignment.
//
// Names beginning with two underscores are private to these files.

#include "polynomial.ispc"
#include "two_over_pi.ispc"

#define SHAPE varying
#include "shapes.ispc"
#undef SHAPE
#define SHAPE uniform
#include "shapes.ispc"
#undef SHAPE

#include "select.ispc"
#include "crosslane.ispc"
#include "scan.ispc"
#include "packed.ispc"
#include "soa.ispc"
#include "hints.ispc"
#include "memory.ispc"
#include "atomics.ispc"
#include "system.ispc"
#include "vectors.ispc"
