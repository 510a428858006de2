// Scans along the middle axis of [outer][n][inner]. What the Python around defines is as in reduce.ispc; results go to the
// arrays Y__ of State__, and EXCLUSIVE__ says which scan it is.
//
// A run of `chunk` elements is scanned from the neutral element; each result is then combined with what stands before the run. So
// it does not matter whether runs follow one another, or are scanned at the same time and get what is before them later.

#if UNIT__
#define PLACE__(i) base + i
#else
#define PLACE__(i) base + (i) * inner
#endif

#if WAY__ == ORDERED__
// One gang goes along a run: log2(W) steps within a gang (Hillis and Steele), then what went before. Gives the run's total.
#define STEP__(step) if (programCount > step) COMBINE__(programIndex >= step, s, op__(rotate__(s, -step), s))
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

template <int carried>
static uniform State__ run__(X_PARAMS__, Y_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner,
                             uniform State__ neutral, uniform State__ before) {
    State__ carry = splat__(before), none = splat__(neutral), run = none;
    uniform int64 i = 0;
    for (; i + programCount <= rows; i += programCount) {
        State__ s = LOAD_X__(PLACE__(i + programIndex));
        SCAN_GANG__
        State__ shown = SHOWN__;
        if (carried)
            shown = op__(carry, shown);
        STORE_Y__(PLACE__(i + programIndex), shown)
        run = broadcast__(s, programCount - 1);
    }
    if (i < rows) {
        State__ s = none;
        if (i + programIndex < rows)
            s = LOAD_X__(PLACE__(i + programIndex));
        SCAN_GANG__
        State__ shown = SHOWN__;
        if (i + programIndex < rows) {
            if (carried)
                shown = op__(carry, shown);
            STORE_Y__(PLACE__(i + programIndex), shown)
        }
        run = broadcast__(s, programCount - 1);
    }
    return extract__(run, 0);
}

// What stands before a run, brought to each of its results.
static void carry__(Y_PARAMS__, uniform int64 base, uniform int64 rows, uniform int64 inner, uniform State__ before) {
    State__ carry = splat__(before);
    foreach (i = 0 ... rows)
        STORE_Y__(PLACE__(i), op__(carry, LOAD_Y__(PLACE__(i))))
}

// A whole line, by one thread.
static void line__(X_PARAMS__, Y_PARAMS__, uniform int64 base, uniform int64 n, uniform int64 inner, uniform int64 chunk,
                   uniform State__ neutral DONE_PARAM__) {
    uniform State__ before = neutral;
    for (uniform int64 first = 0; first < n; first += chunk) {
        uniform int64 rows = min(chunk, n - first);
        uniform State__ total;
        if (first == 0)
            total = run__<0>(X__, Y__, base, rows, inner, neutral, before);
        else
            total = run__<1>(X__, Y__, base + first * inner, rows, inner, neutral, before);
        if (first == 0)
            before = total;
        else
            before = op_one__(before, total);
        DID__(rows)
    }
}
#endif

#if WAY__ == COLUMNS__
// Columns side by side: row after row.
static void columns__(X_PARAMS__, Y_PARAMS__, uniform int64 base, uniform int64 n, uniform int64 inner, uniform int64 width,
                      uniform State__ neutral DONE_PARAM__) {
    foreach (k = 0 ... width) {
#if EXCLUSIVE__
        STORE_Y__(base + k, splat__(neutral))
#else
        STORE_Y__(base + k, LOAD_X__(base + k))
#endif
    }
    for (uniform int64 r = 1; r < n; ++r) {
        uniform int64 row = base + r * inner;
        foreach (k = 0 ... width) {
#if EXCLUSIVE__
            STORE_Y__(row + k, op__(LOAD_Y__(row - inner + k), LOAD_X__(row - inner + k)))
#else
            STORE_Y__(row + k, op__(LOAD_Y__(row - inner + k), LOAD_X__(row + k)))
#endif
        }
        DID_SOME__(r % 256 == 0, 256 * width)
    }
    DID__(((n - 1) % 256 + 1) * width)
}
#endif

#if WAY__ == LINES__
// Short lines, of which there are many: each lane goes along one.
static void lines__(X_PARAMS__, Y_PARAMS__, uniform int64 first, uniform int64 count, uniform int64 n, uniform int64 inner,
                    uniform State__ neutral) {
    for (uniform int64 k = 0; k < inner; ++k) {
        foreach (o = first ... first + count) {
            int64 at = o * n * inner + k;
            State__ s = splat__(neutral);
            for (uniform int64 r = 0; r < n; ++r) {
#if EXCLUSIVE__
                State__ next = op__(s, LOAD_X__(at));
                STORE_Y__(at, s)
                s = next;
#else
                if (r == 0)
                    s = LOAD_X__(at);
                else
                    s = op__(s, LOAD_X__(at));
                STORE_Y__(at, s)
#endif
                at += inner;
            }
        }
    }
}
#endif

// Some of the independent parts.
static void parts__(X_PARAMS__, Y_PARAMS__, uniform int64 outer, uniform int64 n, uniform int64 inner,
                    uniform int64 chunk, uniform int64 tile, uniform State__ neutral, uniform int64 from, uniform int64 to DONE_PARAM__) {
    for (uniform int64 part = from; part < to; ++part) {
#if WAY__ == LINES__
        lines__(X__, Y__, part * tile, min(tile, outer - part * tile), n, inner, neutral);
        DID__(min(tile, outer - part * tile) * n * inner)
#elif WAY__ == COLUMNS__
        uniform int64 tiles = (inner + tile - 1) / tile, t = part % tiles, o = part / tiles;
        columns__(X__, Y__, o * n * inner + t * tile, n, inner, min(tile, inner - t * tile), neutral DONE__);
#else
        line__(X__, Y__, part / inner * n * inner + part % inner, n, inner, chunk, neutral DONE__);
#endif
    }
}

task void share__(X_PARAMS__, Y_PARAMS__, uniform int64 outer, uniform int64 n, uniform int64 inner,
                  uniform int64 chunk, uniform int64 tile, NEUTRAL_PARAMS__, uniform int64 count DONE_PARAM__) {
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    parts__(X__, Y__, outer, n, inner, chunk, tile, ONE_NEUTRAL__(0), from, to DONE__);
}

#if WAY__ == ORDERED__
// Runs of all lines, each from the neutral element; `t` gets their totals.
task void runs__(X_PARAMS__, Y_PARAMS__, T_PARAMS__, uniform int64 n, uniform int64 inner, uniform int64 chunk, NEUTRAL_PARAMS__,
                 uniform int64 count DONE_PARAM__) {
    uniform State__ neutral = ONE_NEUTRAL__(0);
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    for (uniform int64 part = from; part < to; ++part) {
        uniform int64 c = part % chunks, line = part / chunks;
        uniform int64 base = (line / inner * n + c * chunk) * inner + line % inner;
        uniform int64 rows = min(chunk, n - c * chunk);
        STORE_ONE_T__(part, run__<0>(X__, Y__, base, rows, inner, neutral, neutral))
        DID__(rows)
    }
}

task void carries__(Y_PARAMS__, T_PARAMS__, uniform int64 n, uniform int64 inner, uniform int64 chunk,
                    uniform int64 count DONE_PARAM__) {
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 from = count * taskIndex / taskCount, to = count * (taskIndex + 1) / taskCount;
    for (uniform int64 part = from; part < to; ++part) {
        uniform int64 c = part % chunks, line = part / chunks;
        uniform int64 rows = min(chunk, n - c * chunk);
        DID__(rows)
        if (c == 0)
            continue;
        uniform int64 base = (line / inner * n + c * chunk) * inner + line % inner;
        carry__(Y__, base, rows, inner, ONE_T__(part - 1));
    }
}
#endif

export void entry__(X_PARAMS__, Y_PARAMS__, T_PARAMS__, NEUTRAL_PARAMS__, uniform int64 outer, uniform int64 n,
                    uniform int64 inner, uniform int64 chunk, uniform int64 tile, uniform int64 count, uniform int tasks
                    DONE_PARAM__) {
#if WAY__ == ORDERED__
    uniform int64 chunks = (n + chunk - 1) / chunk;
    if (tasks > 1 && chunks > 1 && count < 4 * tasks) {
        // There are fewer lines than work for the threads.
        uniform int64 runs = count * chunks;
        uniform int several = (uniform int)min((uniform int64)tasks, runs);
        launch[several] runs__(X__, Y__, T__, n, inner, chunk, NEUTRAL__, runs DONE__);
        sync;
        for (uniform int64 r = 0; r < runs; ++r)
            if (r % chunks != 0)
                STORE_ONE_T__(r, op_one__(ONE_T__(r - 1), ONE_T__(r)))
        launch[several] carries__(Y__, T__, n, inner, chunk, runs DONE__);
        sync;
        return;
    }
#endif
    if (tasks < 2 || count < 2) {
        parts__(X__, Y__, outer, n, inner, chunk, tile, ONE_NEUTRAL__(0), 0, count DONE__);
    } else {
        launch[(uniform int)min((uniform int64)tasks, count)] share__(X__, Y__, outer, n, inner, chunk, tile, NEUTRAL__, count DONE__);
        sync;
    }
}
