// Included without end.
#include "includes_itself.ispc"
