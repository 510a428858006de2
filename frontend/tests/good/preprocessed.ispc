// Macros within programs.
#define SQUARE(x) ((x) * (x))
#define DECLARE(type, name) type name##_of_##type = (type)0
#define float3 float<3>
#if defined(SQUARE) && !defined(NOTHING)
int a = SQUARE(1 + 2);
#else
int b = ;
#endif
DECLARE(int, zero);
float3 v;
int line = __LINE__;
