// Reductions of one level: runs of elements along an axis become one each. The Python around defines, for the level:
//   LEVEL__(name)                        a name of the level
//   SRC_PARAMS__, SRC__, LOAD__(SRC__, at)    the elements: arrays, as parameters and as arguments; element `at`
//   DST_PARAMS__, DST__                  where results go: arrays of State__
// and once for all State__ (an element), op__, splat__, extract__, rotate__, load_state__, store_state__, ACCUMULATORS__,
// EACH_ACCUMULATOR__, JOIN_ACCUMULATORS__.
//
// Elements lie as [outer][n][inner]; the axis is the middle one, and is cut into `chunks` runs of `chunk` elements.

// One gang gathers a run: lane l of accumulator a takes in the elements l + W * a, l + W * (a + A), … The accumulators, then the
// lanes, are joined as trees. For operators that are commutative.
template <int unit>
static uniform State__ LEVEL__(interleaved)(SRC_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner,
                                            uniform State__ neutral) {
    uniform int64 stride = unit ? 1 : inner;
#define START__(a) State__ s##a = splat__(neutral);
    EACH_ACCUMULATOR__(START__)
    uniform int64 i = 0;
#define TAKE__(a) s##a = op__(s##a, LOAD__(SRC__, base + (i + a * programCount + programIndex) * stride));
    for (; i + ACCUMULATORS__ * programCount <= rows; i += ACCUMULATORS__ * programCount) {
        EACH_ACCUMULATOR__(TAKE__)
    }
    for (; i + programCount <= rows; i += programCount) {
        TAKE__(0)
    }
    if (i + programIndex < rows) {
        TAKE__(0)
    }
#undef START__
#undef TAKE__
    JOIN_ACCUMULATORS__
#define FOLD__(half) if (programCount > half && programIndex < half) s0 = op__(s0, rotate__(s0, half));
    FOLD__(32) FOLD__(16) FOLD__(8) FOLD__(4) FOLD__(2) FOLD__(1)
#undef FOLD__
    return extract__(s0, 0);
}

// The same for operators that are not: each lane gathers elements that follow one another, and the lanes are joined in order.
template <int unit>
static uniform State__ LEVEL__(ordered)(SRC_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner,
                                        uniform State__ neutral) {
    uniform int64 stride = unit ? 1 : inner;
    State__ total = splat__(neutral);
    for (uniform int64 i = 0; i < rows; i += 32 * programCount) {
        uniform int64 left = min(rows - i, (uniform int64)(32 * programCount));
        uniform int run = (uniform int)((left + programCount - 1) / programCount);
        uniform bool full = left == run * programCount;
        int64 first = i + programIndex * run;
        State__ s = splat__(neutral);
        if (full) {
            for (uniform int j = 0; j < run; ++j)
                s = op__(s, LOAD__(SRC__, base + (first + j) * stride));
        } else {
            for (uniform int j = 0; j < run; ++j)
                if (first + j < rows)
                    s = op__(s, LOAD__(SRC__, base + (first + j) * stride));
        }
#define JOIN__(step) if (programCount > step && (programIndex & (2 * step - 1)) == 0) s = op__(s, rotate__(s, step));
        JOIN__(1) JOIN__(2) JOIN__(4) JOIN__(8) JOIN__(16) JOIN__(32)
#undef JOIN__
        if (programIndex == 0)
            total = op__(total, s);
    }
    return extract__(total, 0);
}

// Columns side by side: row after row is combined with what is there.
static void LEVEL__(columns)(SRC_PARAMS__, DST_PARAMS__, uniform int64 base, uniform int64 to, uniform int64 rows,
                             uniform int64 inner, uniform int64 width, uniform State__ neutral) {
    foreach (k = 0 ... width)
        store_state__(DST__, to + k, splat__(neutral));
    uniform int64 r = 0;
    for (; r + 4 <= rows; r += 4) {
        uniform int64 row = base + r * inner;
        foreach (k = 0 ... width) {
            State__ s = load_state__(DST__, to + k);
            s = op__(s, LOAD__(SRC__, row + k));
            s = op__(s, LOAD__(SRC__, row + inner + k));
            s = op__(s, LOAD__(SRC__, row + 2 * inner + k));
            s = op__(s, LOAD__(SRC__, row + 3 * inner + k));
            store_state__(DST__, to + k, s);
        }
    }
    for (; r < rows; ++r) {
        uniform int64 row = base + r * inner;
        foreach (k = 0 ... width)
            store_state__(DST__, to + k, op__(load_state__(DST__, to + k), LOAD__(SRC__, row + k)));
    }
}

// Short lines, of which there are many: each lane gathers one.
static void LEVEL__(lines)(SRC_PARAMS__, DST_PARAMS__, uniform int64 first, uniform int64 count, uniform int64 n,
                           uniform int64 inner, uniform State__ neutral) {
    for (uniform int64 k = 0; k < inner; ++k) {
        foreach (o = first ... first + count) {
            int64 at = o * n * inner + k;
            State__ s = splat__(neutral);
            for (uniform int64 r = 0; r < n; ++r)
                s = op__(s, LOAD__(SRC__, at + r * inner));
            store_state__(DST__, o * inner + k, s);
        }
    }
}

// Some of the independent parts of a level.
static void LEVEL__(parts)(SRC_PARAMS__, DST_PARAMS__, uniform int way, uniform int64 outer, uniform int64 n, uniform int64 inner,
                           uniform int64 chunk, uniform int64 tile, uniform State__ neutral, uniform int64 from,
                           uniform int64 to) {
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 tiles = (inner + tile - 1) / tile;
    for (uniform int64 part = from; part < to; ++part) {
        if (way == LINES__) {
            LEVEL__(lines)(SRC__, DST__, part * tile, min(tile, outer - part * tile), n, inner, neutral);
        } else {
            // By outer index, run and tile of columns.
            uniform int64 t = part % tiles, c = part / tiles % chunks, o = part / tiles / chunks;
            uniform int64 rows = min(chunk, n - c * chunk);
            uniform int64 base = (o * n + c * chunk) * inner + t * tile;
            uniform int64 at = (o * chunks + c) * inner + t * tile;
            if (way == COLUMNS__) {
                LEVEL__(columns)(SRC__, DST__, base, at, rows, inner, min(tile, inner - t * tile), neutral);
            } else {
                uniform State__ s;
                if (way == INTERLEAVED__) {
                    if (inner == 1)
                        s = LEVEL__(interleaved)<1>(SRC__, base, rows, inner, neutral);
                    else
                        s = LEVEL__(interleaved)<0>(SRC__, base, rows, inner, neutral);
                } else {
                    if (inner == 1)
                        s = LEVEL__(ordered)<1>(SRC__, base, rows, inner, neutral);
                    else
                        s = LEVEL__(ordered)<0>(SRC__, base, rows, inner, neutral);
                }
                store_one__(DST__, at, s);
            }
        }
    }
}

task void LEVEL__(share)(SRC_PARAMS__, DST_PARAMS__, uniform int way, uniform int64 outer, uniform int64 n, uniform int64 inner,
                         uniform int64 chunk, uniform int64 tile, NEUTRAL_PARAMS__, uniform int64 count) {
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    LEVEL__(parts)(SRC__, DST__, way, outer, n, inner, chunk, tile, load_one__(NEUTRAL__, 0), from, to);
}

static void LEVEL__(level)(SRC_PARAMS__, DST_PARAMS__, uniform int64 outer, uniform int64 n, uniform int64 inner,
                           const uniform int64 level[], NEUTRAL_PARAMS__, uniform int tasks) {
    uniform int way = (uniform int)level[0];
    uniform int64 chunk = level[1], tile = level[2], count = level[3];
    if (tasks < 2 || count < 2) {
        LEVEL__(parts)(SRC__, DST__, way, outer, n, inner, chunk, tile, load_one__(NEUTRAL__, 0), 0, count);
    } else {
        launch[(uniform int)min((uniform int64)tasks, count)]
            LEVEL__(share)(SRC__, DST__, way, outer, n, inner, chunk, tile, NEUTRAL__, count);
        sync;
    }
}
