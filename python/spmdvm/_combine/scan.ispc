// Scans along the middle axis of [outer][n][inner]. What the Python around defines is as in reduce.ispc; results go to the
// arrays Y__ of State__, and EXCLUSIVE__ says which scan it is.
//
// A run of `chunk` elements is scanned from the neutral element; each result is then combined with what stands before the run. So
// it does not matter whether runs follow one another, or are scanned at the same time and get what is before them later.

// One gang goes along a run: log2(W) steps within a gang (Hillis and Steele), then what went before. Gives the run's total.
#define STEP__(step) if (programCount > step && programIndex >= step) s = op__(rotate__(s, -step), s);
#define SCAN_GANG__ { \
        STEP__(1) STEP__(2) STEP__(4) STEP__(8) STEP__(16) STEP__(32) \
        s = op__(run, s); \
    }
// What a lane gives: in an exclusive scan, what the lane below has gathered.
#if EXCLUSIVE__
#define SHOWN__ shown__(run, s)
static inline State__ shown__(State__ run, State__ s) {
    State__ below = rotate__(s, -1);
    if (programIndex == 0)
        below = run;
    return below;
}
#else
#define SHOWN__ s
#endif

template <int unit, int carried>
static uniform State__ run__(X_PARAMS__, Y_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner,
                             uniform State__ neutral, uniform State__ before) {
    uniform int64 stride = unit ? 1 : inner;
    State__ carry = splat__(before), none = splat__(neutral), run = none;
    uniform int64 i = 0;
    for (; i + programCount <= rows; i += programCount) {
        int64 at = base + (i + programIndex) * stride;
        State__ s = load_x__(X__, at);
        SCAN_GANG__
        if (carried)
            store_state__(Y__, at, op__(carry, SHOWN__));
        else
            store_state__(Y__, at, SHOWN__);
        run = broadcast__(s, programCount - 1);
    }
    if (i < rows) {
        int64 at = base + (i + programIndex) * stride;
        State__ s = none;
        if (i + programIndex < rows)
            s = load_x__(X__, at);
        SCAN_GANG__
        State__ shown = SHOWN__;
        if (i + programIndex < rows) {
            if (carried)
                store_state__(Y__, at, op__(carry, shown));
            else
                store_state__(Y__, at, shown);
        }
        run = broadcast__(s, programCount - 1);
    }
    return extract__(run, 0);
}

// What stands before a run, brought to each of its results.
template <int unit>
static void carry__(Y_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner, uniform State__ before) {
    uniform int64 stride = unit ? 1 : inner;
    State__ carry = splat__(before);
    foreach (i = 0 ... rows) {
        int64 at = base + i * stride;
        store_state__(Y__, at, op__(carry, load_state__(Y__, at)));
    }
}

// A whole line, by one thread.
template <int unit>
static void line__(X_PARAMS__, Y_PARAMS__, uniform int64 base, uniform int64 n, uniform int64 inner, uniform int64 chunk,
                   uniform State__ neutral) {
    uniform State__ before = neutral;
    for (uniform int64 first = 0; first < n; first += chunk) {
        uniform int64 rows = min(chunk, n - first);
        uniform State__ total;
        if (first == 0)
            total = run__<unit, 0>(X__, Y__, base, rows, inner, neutral, before);
        else
            total = run__<unit, 1>(X__, Y__, base + first * inner, rows, inner, neutral, before);
        if (first == 0)
            before = total;
        else
            before = op_one__(before, total);
    }
}

// Columns side by side: row after row.
static void columns__(X_PARAMS__, Y_PARAMS__, uniform int64 base, uniform int64 n, uniform int64 inner, uniform int64 width,
                      uniform State__ neutral) {
    foreach (k = 0 ... width) {
#if EXCLUSIVE__
        store_state__(Y__, base + k, splat__(neutral));
#else
        store_state__(Y__, base + k, load_x__(X__, base + k));
#endif
    }
    for (uniform int64 r = 1; r < n; ++r) {
        uniform int64 row = base + r * inner;
        foreach (k = 0 ... width) {
            int64 at = row + k;
#if EXCLUSIVE__
            store_state__(Y__, at, op__(load_state__(Y__, at - inner), load_x__(X__, at - inner)));
#else
            store_state__(Y__, at, op__(load_state__(Y__, at - inner), load_x__(X__, at)));
#endif
        }
    }
}

// Short lines, of which there are many: each lane goes along one.
static void lines__(X_PARAMS__, Y_PARAMS__, uniform int64 first, uniform int64 count, uniform int64 n, uniform int64 inner,
                    uniform State__ neutral) {
    for (uniform int64 k = 0; k < inner; ++k) {
        foreach (o = first ... first + count) {
            int64 at = o * n * inner + k;
            State__ s = splat__(neutral);
            for (uniform int64 r = 0; r < n; ++r) {
#if EXCLUSIVE__
                State__ next = op__(s, load_x__(X__, at));
                store_state__(Y__, at, s);
                s = next;
#else
                if (r == 0)
                    s = load_x__(X__, at);
                else
                    s = op__(s, load_x__(X__, at));
                store_state__(Y__, at, s);
#endif
                at += inner;
            }
        }
    }
}

// Some of the independent parts.
static void parts__(X_PARAMS__, Y_PARAMS__, uniform int way, uniform int64 outer, uniform int64 n, uniform int64 inner,
                    uniform int64 chunk, uniform int64 tile, uniform State__ neutral, uniform int64 from, uniform int64 to) {
    uniform int64 tiles = (inner + tile - 1) / tile;
    for (uniform int64 part = from; part < to; ++part) {
        if (way == LINES__) {
            lines__(X__, Y__, part * tile, min(tile, outer - part * tile), n, inner, neutral);
        } else if (way == COLUMNS__) {
            uniform int64 t = part % tiles, o = part / tiles;
            columns__(X__, Y__, o * n * inner + t * tile, n, inner, min(tile, inner - t * tile), neutral);
        } else if (inner == 1) {
            line__<1>(X__, Y__, part * n, n, inner, chunk, neutral);
        } else {
            line__<0>(X__, Y__, part / inner * n * inner + part % inner, n, inner, chunk, neutral);
        }
    }
}

task void share__(X_PARAMS__, Y_PARAMS__, uniform int way, uniform int64 outer, uniform int64 n, uniform int64 inner,
                  uniform int64 chunk, uniform int64 tile, NEUTRAL_PARAMS__, uniform int64 count) {
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    parts__(X__, Y__, way, outer, n, inner, chunk, tile, load_one__(NEUTRAL__, 0), from, to);
}

// Runs of all lines, each from the neutral element; `t` gets their totals.
task void runs__(X_PARAMS__, Y_PARAMS__, T_PARAMS__, uniform int64 n, uniform int64 inner, uniform int64 chunk, NEUTRAL_PARAMS__,
                 uniform int64 count) {
    uniform State__ neutral = load_one__(NEUTRAL__, 0);
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    for (uniform int64 part = from; part < to; ++part) {
        uniform int64 c = part % chunks, line = part / chunks;
        uniform int64 base = (line / inner * n + c * chunk) * inner + line % inner;
        uniform int64 rows = min(chunk, n - c * chunk);
        uniform State__ total;
        if (inner == 1)
            total = run__<1, 0>(X__, Y__, base, rows, inner, neutral, neutral);
        else
            total = run__<0, 0>(X__, Y__, base, rows, inner, neutral, neutral);
        store_one__(T__, part, total);
    }
}

task void carries__(Y_PARAMS__, T_PARAMS__, uniform int64 n, uniform int64 inner, uniform int64 chunk, uniform int64 count) {
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    for (uniform int64 part = from; part < to; ++part) {
        uniform int64 c = part % chunks, line = part / chunks;
        if (c == 0)
            continue;
        uniform int64 base = (line / inner * n + c * chunk) * inner + line % inner;
        uniform int64 rows = min(chunk, n - c * chunk);
        if (inner == 1)
            carry__<1>(Y__, base, rows, inner, load_one__(T__, part - 1));
        else
            carry__<0>(Y__, base, rows, inner, load_one__(T__, part - 1));
    }
}

export void entry__(X_PARAMS__, Y_PARAMS__, T_PARAMS__, NEUTRAL_PARAMS__, uniform int way, uniform int64 outer, uniform int64 n,
                    uniform int64 inner, uniform int64 chunk, uniform int64 tile, uniform int64 count, uniform int tasks) {
    uniform int64 chunks = (n + chunk - 1) / chunk;
    if (tasks < 2 || (count < 2 && (way != ORDERED__ || chunks < 2))) {
        parts__(X__, Y__, way, outer, n, inner, chunk, tile, load_one__(NEUTRAL__, 0), 0, count);
    } else if (way == ORDERED__ && count < 4 * tasks && chunks > 1) {
        uniform int64 runs = count * chunks;
        uniform int several = (uniform int)min((uniform int64)tasks, runs);
        launch[several] runs__(X__, Y__, T__, n, inner, chunk, NEUTRAL__, runs);
        sync;
        for (uniform int64 r = 0; r < runs; ++r)
            if (r % chunks != 0)
                store_one__(T__, r, op_one__(load_one__(T__, r - 1), load_one__(T__, r)));
        launch[several] carries__(Y__, T__, n, inner, chunk, runs);
        sync;
    } else {
        launch[(uniform int)min((uniform int64)tasks, count)]
            share__(X__, Y__, way, outer, n, inner, chunk, tile, NEUTRAL__, count);
        sync;
    }
}
