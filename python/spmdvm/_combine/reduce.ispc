// Reductions along the middle axis of [outer][n][inner]. The Python around defines:
//   State__                              an element, of one number or several
//   op__, op_one__                       the operator, of varying and of uniform elements
//   splat__, extract__, rotate__         as broadcast from uniform, extract and rotate are for numbers
//   COMBINE__(condition, s, combined)    s = combined in lanes where the condition holds
//   X_PARAMS__, X__, LOAD_X__(at)        the arrays as parameters and as arguments; element `at` of them, mapped
//   A…, NEUTRAL…                         likewise: where results go; the neutral element. Also STORE_A__(at, s), and
//                                        ONE_A__(at), STORE_ONE_A__(at, s) of uniform elements
//   ACCUMULATORS__, EACH_ACCUMULATOR__(DO), JOIN_ACCUMULATORS__
//   DONE_PARAM__, DONE__, DID__(n)      where it counts what is done, as a parameter and as an argument; elements that are done
//   WAY__                                which way through the arrays this is for; UNIT__: whether inner is 1
// Where elements lie is written out at each access, so that the compiler sees which lie in a row.
//
// The axis is cut into runs of `chunk` elements, which become one each; then these are joined pair by pair.

#if WAY__ == INTERLEAVED__
// One gang gathers a run: lane l of accumulator a takes in the elements l + W * a, l + W * (a + A), … The accumulators, then the
// lanes, are joined as trees. For operators that are commutative.
static uniform State__ run__(X_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner, uniform State__ neutral) {
#define START__(a) State__ s##a = splat__(neutral);
    EACH_ACCUMULATOR__(START__)
    uniform int64 i = 0;
#if UNIT__
#define TAKE__(a) s##a = op__(s##a, LOAD_X__(base + i + a * programCount + programIndex));
#else
#define TAKE__(a) s##a = op__(s##a, LOAD_X__(base + (i + a * programCount + programIndex) * inner));
#endif
    for (; i + ACCUMULATORS__ * programCount <= rows; i += ACCUMULATORS__ * programCount) {
        EACH_ACCUMULATOR__(TAKE__)
    }
    for (; i + programCount <= rows; i += programCount) {
        TAKE__(0)
    }
    if (i + programIndex < rows) {
        TAKE__(0)
    }
    JOIN_ACCUMULATORS__
#define FOLD__(half) if (programCount > half) COMBINE__(programIndex < half, s0, op__(s0, rotate__(s0, half)))
    FOLD__(32) FOLD__(16) FOLD__(8) FOLD__(4) FOLD__(2) FOLD__(1)
    return extract__(s0, 0);
}
#endif

#if WAY__ == ORDERED__
// The same for operators that are not: each lane gathers elements that follow one another, and the lanes are joined in order.
static uniform State__ run__(X_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner, uniform State__ neutral) {
    State__ total = splat__(neutral);
    for (uniform int64 i = 0; i < rows; i += 32 * programCount) {
        uniform int64 left = min(rows - i, (uniform int64)(32 * programCount));
        uniform int64 length = (left + programCount - 1) / programCount;
        uniform bool full = left == length * programCount;
        int64 first = i + programIndex * length;
        State__ s = splat__(neutral);
        if (full) {
            for (uniform int64 j = 0; j < length; ++j)
                s = op__(s, LOAD_X__(base + (first + j) * inner));
        } else {
            for (uniform int64 j = 0; j < length; ++j)
                if (first + j < rows)
                    s = op__(s, LOAD_X__(base + (first + j) * inner));
        }
#define JOIN__(step) \
        if (programCount > step) COMBINE__((programIndex & (2 * step - 1)) == 0, s, op__(s, rotate__(s, step)))
        JOIN__(1) JOIN__(2) JOIN__(4) JOIN__(8) JOIN__(16) JOIN__(32)
        COMBINE__(programIndex == 0, total, op__(total, s))
    }
    return extract__(total, 0);
}
#endif

#if WAY__ == COLUMNS__
// Columns side by side: row after row is combined with what is there.
static void columns__(X_PARAMS__, A_PARAMS__, uniform int64 base, uniform int64 to, uniform int64 rows, uniform int64 inner,
                      uniform int64 width, uniform State__ neutral) {
    foreach (k = 0 ... width)
        STORE_A__(to + k, splat__(neutral))
    uniform int64 r = 0;
    for (; r + 4 <= rows; r += 4) {
        uniform int64 row = base + r * inner;
        foreach (k = 0 ... width) {
            State__ s = LOAD_A__(to + k);
            s = op__(s, LOAD_X__(row + k));
            s = op__(s, LOAD_X__(row + inner + k));
            s = op__(s, LOAD_X__(row + 2 * inner + k));
            s = op__(s, LOAD_X__(row + 3 * inner + k));
            STORE_A__(to + k, s)
        }
    }
    for (; r < rows; ++r) {
        uniform int64 row = base + r * inner;
        foreach (k = 0 ... width)
            STORE_A__(to + k, op__(LOAD_A__(to + k), LOAD_X__(row + k)))
    }
}
#endif

#if WAY__ == LINES__
// Short lines, of which there are many: each lane gathers one.
static void lines__(X_PARAMS__, A_PARAMS__, uniform int64 first, uniform int64 count, uniform int64 n, uniform int64 inner,
                    uniform State__ neutral) {
    for (uniform int64 k = 0; k < inner; ++k) {
        foreach (o = first ... first + count) {
            int64 at = o * n * inner + k;
            State__ s = splat__(neutral);
            for (uniform int64 r = 0; r < n; ++r)
                s = op__(s, LOAD_X__(at + r * inner));
            STORE_A__(o * inner + k, s)
        }
    }
}
#endif

// Some of the independent parts.
static void parts__(X_PARAMS__, A_PARAMS__, uniform int64 outer, uniform int64 n, uniform int64 inner, uniform int64 chunk,
                    uniform int64 tile, uniform State__ neutral, uniform int64 from, uniform int64 to DONE_PARAM__) {
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 tiles = (inner + tile - 1) / tile;
    for (uniform int64 part = from; part < to; ++part) {
#if WAY__ == LINES__
        lines__(X__, A__, part * tile, min(tile, outer - part * tile), n, inner, neutral);
        DID__(min(tile, outer - part * tile) * n * inner)
#else
        // By outer index, run and tile of columns.
        uniform int64 t = part % tiles, c = part / tiles % chunks, o = part / tiles / chunks;
        uniform int64 rows = min(chunk, n - c * chunk);
        uniform int64 base = (o * n + c * chunk) * inner + t * tile;
        uniform int64 at = (o * chunks + c) * inner + t * tile;
#if WAY__ == COLUMNS__
        columns__(X__, A__, base, at, rows, inner, min(tile, inner - t * tile), neutral);
        DID__(rows * min(tile, inner - t * tile))
#else
        STORE_ONE_A__(at, run__(X__, base, rows, inner, neutral))
        DID__(rows)
#endif
#endif
    }
}

task void share__(X_PARAMS__, A_PARAMS__, uniform int64 outer, uniform int64 n, uniform int64 inner, uniform int64 chunk,
                  uniform int64 tile, NEUTRAL_PARAMS__, uniform int64 count DONE_PARAM__) {
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    parts__(X__, A__, outer, n, inner, chunk, tile, ONE_NEUTRAL__(0), from, to DONE__);
}

// What became of runs stands in `a`, as [outer][chunks][inner]; the results are those of the first runs in the end.
export void entry__(X_PARAMS__, A_PARAMS__, NEUTRAL_PARAMS__, uniform int64 outer, uniform int64 n, uniform int64 inner,
                    uniform int64 chunk, uniform int64 tile, uniform int64 count, uniform int tasks DONE_PARAM__) {
    if (tasks < 2 || count < 2) {
        parts__(X__, A__, outer, n, inner, chunk, tile, ONE_NEUTRAL__(0), 0, count DONE__);
    } else {
        launch[(uniform int)min((uniform int64)tasks, count)] share__(X__, A__, outer, n, inner, chunk, tile, NEUTRAL__, count DONE__);
        sync;
    }
    uniform int64 chunks = (n + chunk - 1) / chunk;
    for (uniform int64 step = 1; step < chunks; step *= 2) {
        for (uniform int64 o = 0; o < outer; ++o) {
            for (uniform int64 c = 0; c + step < chunks; c += 2 * step) {
                uniform int64 left = (o * chunks + c) * inner, right = left + step * inner;
#if UNIT__
                STORE_ONE_A__(left, op_one__(ONE_A__(left), ONE_A__(right)))
#else
                foreach (k = 0 ... inner)
                    STORE_A__(left + k, op__(LOAD_A__(left + k), LOAD_A__(right + k)))
#endif
            }
        }
    }
}
