// A struct may be named before it is declared: in a parameter, a member, a typedef or a pointer.
//~ run: f() result == 21 + 21
typedef struct Late LateName;
static uniform int depth(struct RayN * uniform r, uniform int i);
struct Hit { struct RayN * uniform ray; struct Never * uniform never; };
struct RayN { int depth[2]; struct Hit * uniform hit; };
struct Late { int n; };
static uniform int depth(struct RayN * uniform r, uniform int i) { return r->depth[i]; }
export uniform int f() {
    uniform RayN ray = { { 20, 21 }, NULL };
    uniform Hit hit = { &ray, NULL };
    struct Inner * uniform unknown = NULL;
    uniform LateName late = { 21 };
    if (hit.never != NULL || unknown != NULL) return 0;
    return depth(hit.ray, 1) + late.n;
}
