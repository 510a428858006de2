/* What translated programs are made of: the arithmetic of the language, and a watch on what lanes touch. */
#include <math.h>

typedef uint8_t u8, b8;
typedef uint16_t u16, f16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;

/* The end before the end: exit codes 76 and 77, with the reason on standard error. */
static _Noreturn void trap(const char *kind) {
    fprintf(stderr, "%s\n", kind);
    exit(76);
}

static _Noreturn void undecided(const char *why, int line) {
    if (line > 0) fprintf(stderr, "line %d: %s\n", line, why);
    else fprintf(stderr, "%s\n", why);
    exit(77);
}

/* Integers wrap: they are calculated with as u64 and cut off. */
#define INT(T, BITS) \
    static inline T add_##T(T a, T b) { return (T)((u64)a + (u64)b); } \
    static inline T sub_##T(T a, T b) { return (T)((u64)a - (u64)b); } \
    static inline T mul_##T(T a, T b) { return (T)((u64)a * (u64)b); } \
    static inline T neg_##T(T a) { return (T)(0 - (u64)a); } \
    static inline T abs_##T(T a) { return a < 0 ? neg_##T(a) : a; } \
    static inline T idiv_##T(T a, T b) { \
        if (b == 0) trap("division_by_zero"); \
        return (T)-1 < 0 && b == (T)-1 ? neg_##T(a) : (T)(a / b); \
    } \
    static inline T irem_##T(T a, T b) { \
        if (b == 0) trap("division_by_zero"); \
        return (T)-1 < 0 && b == (T)-1 ? 0 : (T)(a % b); \
    } \
    static inline T mulhi_##T(T a, T b) { \
        if ((T)-1 < 0) return (T)(((__int128)a * (__int128)b) >> BITS); \
        return (T)(((unsigned __int128)a * (unsigned __int128)b) >> BITS); \
    } \
    static inline T and_##T(T a, T b) { return (T)(a & b); } \
    static inline T or_##T(T a, T b) { return (T)(a | b); } \
    static inline T xor_##T(T a, T b) { return (T)(a ^ b); } \
    static inline T not_##T(T a) { return (T)~a; } \
    static inline T shl_##T(T a, T b) { return (T)((u64)a << ((u64)b & (BITS - 1))); } \
    static inline T shr_##T(T a, T b) { \
        int n = (int)((u64)b & (BITS - 1)); \
        return a < 0 ? (T)~((T)~a >> n) : (T)(a >> n); \
    } \
    static inline T popcnt_##T(T a) { \
        T n = 0; \
        for (int i = 0; i < BITS; i++) n += (T)((u64)a >> i & 1); \
        return n; \
    } \
    static inline T clz_##T(T a) { \
        T n = 0; \
        while (n < BITS && !((u64)a >> (BITS - 1 - n) & 1)) n++; \
        return n; \
    } \
    static inline T ctz_##T(T a) { \
        T n = 0; \
        while (n < BITS && !((u64)a >> n & 1)) n++; \
        return n; \
    } \
    ORDERED(T)

#define ORDERED(T) \
    static inline T min_##T(T a, T b) { return a < b ? a : b; } \
    static inline T max_##T(T a, T b) { return a > b ? a : b; } \
    static inline b8 eq_##T(T a, T b) { return a == b; } \
    static inline b8 ne_##T(T a, T b) { return a != b; } \
    static inline b8 lt_##T(T a, T b) { return a < b; } \
    static inline b8 le_##T(T a, T b) { return a <= b; } \
    static inline b8 gt_##T(T a, T b) { return a > b; } \
    static inline b8 ge_##T(T a, T b) { return a >= b; }

INT(i8, 8) INT(i16, 16) INT(i32, 32) INT(i64, 64)
INT(u8, 8) INT(u16, 16) INT(u32, 32) INT(u64, 64)
ORDERED(b8) ORDERED(f32) ORDERED(f64)

static inline b8 and_b8(b8 a, b8 b) { return a && b; }
static inline b8 or_b8(b8 a, b8 b) { return a || b; }
static inline b8 xor_b8(b8 a, b8 b) { return !a != !b; }
static inline b8 not_b8(b8 a) { return !a; }

#define FLOAT(T, F) \
    static inline T add_##T(T a, T b) { return a + b; } \
    static inline T sub_##T(T a, T b) { return a - b; } \
    static inline T mul_##T(T a, T b) { return a * b; } \
    static inline T fdiv_##T(T a, T b) { return a / b; } \
    static inline T frem_##T(T a, T b) { return fmod##F(a, b); } \
    static inline T neg_##T(T a) { return -a; } \
    static inline T abs_##T(T a) { return fabs##F(a); } \
    static inline T fma_##T(T a, T b, T c) { return fma##F(a, b, c); } \
    static inline T sqrt_##T(T a) { return sqrt##F(a); } \
    static inline T floor_##T(T a) { return floor##F(a); } \
    static inline T ceil_##T(T a) { return ceil##F(a); } \
    static inline T trunc_##T(T a) { return trunc##F(a); } \
    static inline T round_even_##T(T a) { return rint##F(a); } \
    static inline T sign_##T(T a) { \
        if (a != a) undecided("it asks for the sign of a NaN", 0); \
        return copysign##F(0, a); \
    }
FLOAT(f32, f) FLOAT(f64, )

/* float16 is held as its bits. */
static f64 f64_of_f16(f16 h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    f64 size = exponent == 31 ? (fraction ? NAN : INFINITY)
        : exponent == 0 ? ldexp(fraction, -24)
        : ldexp(1024 + fraction, exponent - 25);
    return h >> 15 ? -size : size;
}

static f16 f16_of_f64(f64 x) {
    f16 sign = signbit(x) ? 0x8000 : 0;
    f64 size = fabs(x);
    if (x != x) return 0x7e00;
    if (size == 0) return sign;
    if (size >= 65520) return sign | 0x7c00;
    int exponent;
    frexp(size, &exponent);
    /* The place of the last bit: of subnormal numbers always the same. */
    int last = (exponent < -13 ? -13 : exponent) - 11;
    int digits = (int)rint(ldexp(size, -last));
    /* A carry out of the fraction counts the exponent up, as it should. */
    return sign | (f16)(digits + ((last + 24) << 10));
}

#define HALF_1(NAME) static inline f16 NAME##_f16(f16 a) { return f16_of_f64(NAME##_f64(f64_of_f16(a))); }
#define HALF_2(NAME) \
    static inline f16 NAME##_f16(f16 a, f16 b) { return f16_of_f64(NAME##_f64(f64_of_f16(a), f64_of_f16(b))); }
#define HALF_COMPARE(NAME) \
    static inline b8 NAME##_f16(f16 a, f16 b) { return NAME##_f64(f64_of_f16(a), f64_of_f16(b)); }
/* With 53 bits in between, rounding twice is as rounding once. */
HALF_1(sqrt) HALF_1(floor) HALF_1(ceil) HALF_1(trunc) HALF_1(round_even) HALF_1(sign)
HALF_2(add) HALF_2(sub) HALF_2(mul) HALF_2(fdiv) HALF_2(frem) HALF_2(min) HALF_2(max)
HALF_COMPARE(eq) HALF_COMPARE(ne) HALF_COMPARE(lt) HALF_COMPARE(le) HALF_COMPARE(gt) HALF_COMPARE(ge)
static inline f16 neg_f16(f16 a) { return a ^ 0x8000; }
static inline f16 abs_f16(f16 a) { return a & 0x7fff; }

/* Exact, as a whole number of 2^-48, then rounded once. */
static f16 fma_f16(f16 a, f16 b, f16 c) {
    f64 x = f64_of_f16(a), y = f64_of_f16(b), z = f64_of_f16(c);
    f64 near = x * y + z;
    if (near - near != 0) return f16_of_f64(near);
    __int128 sum = (__int128)(i64)ldexp(x, 24) * (i64)ldexp(y, 24) + ((__int128)(i64)ldexp(z, 24) << 24);
    if (sum == 0) return f16_of_f64(near);
    unsigned __int128 size = sum < 0 ? -sum : sum;
    int places = -48;
    while (size >> 50) {
        size = size >> 1 | (size & 1);
        places++;
    }
    f64 whole = ldexp((f64)(u64)size, places);
    return f16_of_f64(sum < 0 ? -whole : whole);
}

/* From floats: toward zero, to the nearest there is; 0 of a NaN. */
#define SATURATE(T, MIN, MAX, BEYOND) \
    static inline T sat_##T(f64 x) { return x != x ? 0 : x >= BEYOND ? MAX : x <= (f64)MIN ? MIN : (T)x; }
SATURATE(i8, INT8_MIN, INT8_MAX, 0x1p7) SATURATE(i16, INT16_MIN, INT16_MAX, 0x1p15)
SATURATE(i32, INT32_MIN, INT32_MAX, 0x1p31) SATURATE(i64, INT64_MIN, INT64_MAX, 0x1p63)
SATURATE(u8, 0, UINT8_MAX, 0x1p8) SATURATE(u16, 0, UINT16_MAX, 0x1p16)
SATURATE(u32, 0, UINT32_MAX, 0x1p32) SATURATE(u64, 0, UINT64_MAX, 0x1p64)

/* Values as words and back; a NaN is the usual one. */
#define WORD(T, U) \
    static inline T T##_of_word(u64 word) { U bits = (U)word; T x; memcpy(&x, &bits, sizeof x); return x; } \
    static inline u64 word_of_##T(T x) { U bits; memcpy(&bits, &x, sizeof x); return bits; }
WORD(i8, u8) WORD(i16, u16) WORD(i32, u32) WORD(i64, u64)
WORD(u8, u8) WORD(u16, u16) WORD(u32, u32) WORD(u64, u64) WORD(b8, u8)
static inline f16 f16_of_word(u64 word) { return (f16)word; }
static inline f32 f32_of_word(u64 word) { return float_of((u32)word); }
static inline f64 f64_of_word(u64 word) { return double_of(word); }
static inline u64 word_of_f16(f16 x) { return (x & 0x7fff) > 0x7c00 ? 0x7e00 : x; }
static inline u64 word_of_f32(f32 x) {
    u32 bits;
    memcpy(&bits, &x, sizeof x);
    return x != x ? 0x7fc00000 : bits;
}
static inline u64 word_of_f64(f64 x) {
    u64 bits;
    memcpy(&bits, &x, sizeof x);
    return x != x ? 0x7ff8000000000000 : bits;
}

/* Elements of short vectors. */
#define ELEMENT(T) \
    static inline T get_##T(const void *from, int i) { T x; memcpy(&x, (const T *)from + i, sizeof x); return x; } \
    static inline void put_##T(void *to, int i, T x) { memcpy((T *)to + i, &x, sizeof x); }
ELEMENT(b8) ELEMENT(i8) ELEMENT(i16) ELEMENT(i32) ELEMENT(i64)
ELEMENT(u8) ELEMENT(u16) ELEMENT(u32) ELEMENT(u64) ELEMENT(f16) ELEMENT(f32) ELEMENT(f64)

/* Tasks run one after another, when they are launched. */
struct Task { i32 index[3], count[3]; };
static struct Task task = {{0, 0, 0}, {1, 1, 1}};

static inline i32 number_of(int lane) {
    if (lane < 0) undecided("it asks for the number of a lane in a `foreach_tiled`", 0);
    return lane;
}

static void print_float(f64 x) {
    if (x != x) fputs("nan", stdout);
    else printf("%f", x);
}

/* Lanes run one after another. In a gang they run in step: that comes to the same only if, in one turn of the gang, no lane touches
   what another one writes. Writing what is there already is let pass, for that is what uniform assignments do. */
#define PAGE 4096
#define SLOTS 65536
#define MANY 0xffffffffu
#define SHARED 0xfffffffeu
struct Page { u64 number; u64 writer[PAGE], reader[PAGE]; };
static struct Page *pages[SLOTS], *last_page;
static u32 turn, who;
static bool relaxed;
static const char *stack_start;

static struct Page *page_of(const char *at) {
    u64 number = (u64)at / PAGE;
    if (last_page && last_page->number == number) return last_page;
    for (u32 i = 0; i < SLOTS; i++) {
        struct Page **slot = &pages[(number * 0x9e3779b97f4a7c15 >> 32 ^ number) + i & SLOTS - 1];
        if (!*slot) {
            *slot = calloc(1, sizeof **slot);
            if (!*slot) break;
            (*slot)->number = number;
        }
        if ((*slot)->number == number) return last_page = *slot;
    }
    undecided("it touches too much memory", 0);
}

static bool is_private(const char *at) {
    const char here = 0;
    return at > &here && at < stack_start;
}

static void conflict(int line) { undecided("lanes touch what other lanes write, where only the order tells the outcome", line); }

static bool is_others(u64 mark) { return mark >> 32 == turn && (u32)mark != who; }

static void before_read(const void *from, int n, int line) {
    if (is_private(from)) return;
    for (const char *at = from; at < (const char *)from + n; at++) {
        struct Page *page = page_of(at);
        u64 *reader = &page->reader[(u64)at % PAGE];
        if (is_others(page->writer[(u64)at % PAGE])) conflict(line);
        *reader = (u64)turn << 32 | (is_others(*reader) ? MANY : who);
    }
}

static void before_write(const void *to, const void *from, int n, int line) {
    if (is_private(to)) return;
    for (int i = 0; i < n; i++) {
        const char *at = (const char *)to + i;
        struct Page *page = page_of(at);
        u64 *writer = &page->writer[(u64)at % PAGE];
        bool is_second = is_others(*writer);
        if (is_others(page->reader[(u64)at % PAGE]) || (is_second && *at != ((const char *)from)[i])) conflict(line);
        *writer = (u64)turn << 32 | (is_second ? SHARED : who);
    }
}

/* Before an atomic operation: if nobody asks what was there, those of one kind commute. */
static void before_atomic(const void *to, int n, u32 kind, int line) {
    if (is_private(to)) return;
    for (const char *at = to; at < (const char *)to + n; at++) {
        struct Page *page = page_of(at);
        u64 *writer = &page->writer[(u64)at % PAGE], *reader = &page->reader[(u64)at % PAGE];
        bool is_alike = relaxed && kind && (u32)*writer == SHARED - kind;
        if (is_others(*reader) || (is_others(*writer) && !is_alike)) conflict(line);
        *writer = (u64)turn << 32 | (relaxed && kind ? SHARED - kind : who);
        if (!relaxed || !kind) *reader = (u64)turn << 32 | who;
    }
}

static void copy_bytes(u64 to, u64 from, i64 n, bool is_lane, int line) {
    if (n <= 0) return;
    if (n > 1 << 30) trap("out_of_bounds");
    if (is_lane) before_read((void *)from, (int)n, line);
    if (is_lane) before_write((void *)to, (void *)from, (int)n, line);
    memmove((void *)to, (void *)from, (size_t)n);
}

static void set_bytes(u64 to, i32 value, i64 n, bool is_lane, int line) {
    char byte = (char)value;
    for (i64 i = 0; i < n; i++) {
        if (is_lane) before_write((char *)to + i, &byte, 1, line);
        *((char *)to + i) = byte;
    }
}

/* Variables of functions that the whole gang runs, and that have addresses; also what programs allocate. */
static char room[1 << 26];
static size_t room_used;
static void *take_room(u64 size) {
    size = (size + 63) / 64 * 64;
    if (size > sizeof room - room_used) undecided("its variables take too much memory", 0);
    room_used += size;
    return memset(room + room_used - size, 0, size);
}

static u64 allocate(u64 n, u64 size) {
    if (size && n > SIZE_MAX / size) trap("out_of_memory");
    void *got = calloc(n ? n : 1, size ? size : 1);
    if (!got) trap("out_of_memory");
    return (u64)got;
}
