// Variables, types and their declarators.
uniform int a = 1, *uniform b = &a, c[3] = {1, 2, 3,};
static const varying float d;
extern "C" int8 *uniform external;
extern uniform int shared;
unsigned int64 big;
unsigned u;
signed int8 s;
uint16 w;
float16 h;
float<3> position;
uniform int<4> *varying vectors;
float matrix[4][5][];
const float *uniform const *varying deep;
void (*callback)(int, uniform float *);
int (*table[4])(float x);
int (*(*nested)(int))(float);
typedef float<3> float3, *float3p;
typedef struct { float x, y; } Pair;
struct Node;
struct Node { Node *next; float3 at; struct { int inner; } data; uniform int counts[2]; };
soa<8> struct Node nodes[4];
soa<4> Node *uniform sliced;
enum Color { RED, GREEN = 5, BLUE, };
enum { ANONYMOUS };
enum Color color = RED;
Pair pair = {1, {2}}, other;
struct Aligned { int a; } __attribute__((packed, aligned(16)));
__attribute__((deprecated("why"), unused)) int old;
uniform int uniform_reference(int &x, const uniform Pair &p);
struct Node *first(void);
static_assert(sizeof(float) == 4, "size " "of float");
export { Pair, Node };
extern "C" {
    void from_c(uniform int n);
    int from_c_too;
}
