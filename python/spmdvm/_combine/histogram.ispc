// Histograms: dest[indices[j]] = op(dest[indices[j]], value j), for each j in order. An element of dest is `inner` elements side
// by side. Large inputs are cut into `parts` ranges, each with a histogram of its own, which are combined in order afterwards.
// Where these would be too large, threads have ranges of dest.

#define BLOCK__ 512
// The last index that is inside.
#define LAST_OF__(m) ((uniform unsigned INDEX_BITS__)min((uniform unsigned int64)(m - 1), LAST__))

// Returns whether all indices of a range are in 0 … m - 1. As unsigned numbers, negative ones are greater than LAST__, the
// greatest of their type.
static uniform bool inside__(const uniform INDEX__ at[], uniform int64 first, uniform int64 end, uniform int64 m) {
    if (m == 0)
        return first == end;
    uniform unsigned INDEX_BITS__ last = LAST_OF__(m);
    unsigned INDEX_BITS__ greatest = 0, greatest_too = 0;
    uniform int64 j = first;
    for (; j + 2 * programCount <= end; j += 2 * programCount) {
        greatest = max(greatest, (unsigned INDEX_BITS__)at[j + programIndex]);
        greatest_too = max(greatest_too, (unsigned INDEX_BITS__)at[j + programCount + programIndex]);
    }
    foreach (k = j ... end)
        greatest = max(greatest, (unsigned INDEX_BITS__)at[k]);
    return all(greatest <= last && greatest_too <= last);
}

// One histogram, of which the bins begin at element `to` of h.
#define PUT__(index, value) { \
        uniform int64 key = index; \
        STORE_ONE_H__(key, op_one__(ONE_H__(key), value)) \
    }

// Bins that are single elements, of values that are mapped a block at a time, all lanes at once.
static void blocks__(H_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 first, uniform int64 end,
                     uniform int64 m) {
    BLOCK_ARRAYS__
    for (uniform int64 j = first; j < end; j += BLOCK__) {
        uniform int count = (uniform int)min(end - j, (uniform int64)BLOCK__);
        foreach (k = 0 ... count) {
            int64 index = at[j + k];
            if ((unsigned int64)index < (unsigned int64)m)
                STORE_BLOCK__(k, LOAD_X__(j + k))
        }
        for (uniform int k = 0; k < count; ++k) {
            uniform int64 index = at[j + k];
            if ((uniform unsigned int64)index < (uniform unsigned int64)m)
                PUT__(index, ONE_BLOCK__(k))
        }
    }
}

// Bins that are single elements, of values that are taken as they are, one after another. Each index is tested where it is used:
// tests of many together would read memory on their own first, and then nothing is done while that is waited for.
#if PLAIN__
static void direct__(H_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 first, uniform int64 end,
                     uniform int64 m) {
#if CONSTANT__
    // All values are the same.
    uniform State__ value = ONE_X__(0);
#define VALUE__(j) value
#else
#define VALUE__(j) ONE_X__(j)
#endif
#define PUT_INSIDE__(index, value) \
        if ((uniform unsigned int64)(uniform int64)index < (uniform unsigned int64)m) \
            PUT__(index, value)
// Indices and values are read together, so that their bounds are checked together: of four at a time, or of all where the last index
// and value are read first. That pays where elements are so small that memory is not waited for anyway.
#define PUT_4__(j, last_index, last_value) { \
        uniform INDEX__ k0__ = at[j], k1__ = at[j + 1], k2__ = at[j + 2], k3__ = last_index; \
        uniform State__ a__ = VALUE__(j), b__ = VALUE__(j + 1), c__ = VALUE__(j + 2), d__ = last_value; \
        PUT_INSIDE__(k0__, a__) \
        PUT_INSIDE__(k1__, b__) \
        PUT_INSIDE__(k2__, c__) \
        PUT_INSIDE__(k3__, d__) \
    }
    uniform int64 j = first;
    for (; j + 16 <= end; j += 16) {
#if SMALL__
#define LAST_INDEX__ last_index
#define LAST_VALUE__ last_value
        uniform INDEX__ last_index = at[j + 15];
        uniform State__ last_value = VALUE__(j + 15);
#else
#define LAST_INDEX__ at[j + 15]
#define LAST_VALUE__ VALUE__(j + 15)
#endif
        PUT_4__(j, at[j + 3], VALUE__(j + 3))
        PUT_4__(j + 4, at[j + 7], VALUE__(j + 7))
        PUT_4__(j + 8, at[j + 11], VALUE__(j + 11))
        PUT_4__(j + 12, LAST_INDEX__, LAST_VALUE__)
    }
    for (; j < end; ++j)
        PUT_INSIDE__(at[j], VALUE__(j))
}
#endif

// … bins of several elements.
static void rows__(H_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 first, uniform int64 end, uniform int64 m,
                   uniform int64 inner) {
    for (uniform int64 j = first; j < end; ++j) {
        uniform int64 index = at[j];
        if ((uniform unsigned int64)index >= (uniform unsigned int64)m)
            continue;
        foreach (k = 0 ... inner) {
            STORE_H__(index * inner + k, op__(LOAD_H__(index * inner + k), LOAD_X__(j * inner + k)))
        }
    }
}

static void piece__(H_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 first, uniform int64 end, uniform int64 m,
                    uniform int64 inner) {
    if (inner != 1) {
        rows__(H__, X__, at, first, end, m, inner);
        return;
    }
#if PLAIN__
    if (m != 0)
        direct__(H__, X__, at, first, end, m);
#else
    blocks__(H__, X__, at, first, end, m);
#endif
}

static void range__(H_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 first, uniform int64 end, uniform int64 m,
                    uniform int64 inner DONE_PARAM__) {
    IN_PIECES__(first, end) {
        piece__(H__, X__, at, FROM__, TO__, m, inner);
        DID__(TO__ - FROM__)
    }
}

// Each part's histogram begins as neutral elements.
static void part__(S_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 n, uniform int64 m, uniform int64 inner,
                   uniform State__ neutral, uniform int64 part, uniform int64 parts DONE_PARAM__) {
    uniform int64 start = part * m * inner;
    foreach (k = 0 ... m * inner)
        STORE_S__(start + k, splat__(neutral))
    range__(S_FROM__(start), X__, at, n * part / parts, n * (part + 1) / parts, m, inner DONE__);
}

task void part_task__(S_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 n, uniform int64 m, uniform int64 inner,
                      NEUTRAL_PARAMS__, uniform int64 part, uniform int64 parts DONE_PARAM__) {
    part__(S__, X__, at, n, m, inner, ONE_NEUTRAL__(0), part, parts DONE__);
}

task void parts__(S_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 n, uniform int64 m, uniform int64 inner,
                  NEUTRAL_PARAMS__, uniform int64 parts DONE_PARAM__) {
    uniform int64 from = parts * taskIndex / taskCount, to = parts * (taskIndex + 1) / taskCount;
    for (uniform int64 part = from; part < to; ++part)
        part__(S__, X__, at, n, m, inner, ONE_NEUTRAL__(0), part, parts DONE__);
}

// Bins from `from` to `to` of dest take in those of all parts, in order.
static void gather__(H_PARAMS__, S_PARAMS__, uniform int64 bins, uniform int64 parts, uniform int64 from, uniform int64 to) {
    foreach (k = from ... to) {
        State__ s = LOAD_H__(k);
        for (uniform int64 part = 0; part < parts; ++part)
            s = op__(s, LOAD_S__(part * bins + k));
        STORE_H__(k, s)
    }
}

task void gathers__(H_PARAMS__, S_PARAMS__, uniform int64 bins, uniform int64 parts) {
    gather__(H__, S__, bins, parts, bins * taskIndex / taskCount, bins * (taskIndex + 1) / taskCount);
}

// Many bins: each thread looks at all indices, all lanes at once, and puts those of the bins that are its own side by side. Then
// it updates these bins one after another: their order is kept, so that this is for all operators and types.
//
// Atomic operations, with which each thread has a part of the indices, take 1.25 to 2.2 times as long (sums of 10^7 int32 or int64
// in 10^5 to 10^7 bins, two threads): each waits for its memory by itself.
task void owned__(H_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 n, uniform int64 m, uniform int64 inner
                  DONE_PARAM__) {
    uniform int64 from = m * taskIndex / taskCount, to = m * (taskIndex + 1) / taskCount;
    uniform INDEX__ own[BLOCK__];
    uniform int row[BLOCK__];
    BLOCK_ARRAYS__
    IN_PIECES__(0, n) {
    for (uniform int64 j = FROM__; j < TO__; j += BLOCK__) {
        uniform int end = (uniform int)min(TO__ - j, (uniform int64)BLOCK__), count = 0;
        foreach (k = 0 ... end) {
            INDEX__ index = at[j + k];
            // As unsigned numbers, those before `from` are greater than all.
            if ((unsigned int64)((int64)index - from) < (unsigned int64)(to - from)) {
                if (inner == 1)
                    PACK_BLOCK__(count, LOAD_X__(j + k))
                else
                    packed_store_active(row + count, (int)k);
                count += packed_store_active(own + count, index);
            }
        }
        if (inner == 1) {
            for (uniform int k = 0; k < count; ++k)
                PUT__(own[k], ONE_BLOCK__(k))
        } else {
            for (uniform int k = 0; k < count; ++k) {
                uniform int64 to_own = own[k] * inner, from_own = (j + row[k]) * inner;
                foreach (l = 0 ... inner)
                    STORE_H__(to_own + l, op__(LOAD_H__(to_own + l), LOAD_X__(from_own + l)))
            }
        }
    }
    DID__(TO__ - FROM__)
    }
}

// Gives the place of the first index outside of dest, or -1.
export uniform int64 outside__(const uniform INDEX__ at[], uniform int64 n, uniform int64 m) {
    for (uniform int64 first = 0; first < n; first += 16384) {
        uniform int64 end = min(n, first + 16384);
        if (!inside__(at, first, end, m))
            for (uniform int64 j = first; j < end; ++j)
                if ((uniform unsigned int64)(uniform int64)at[j] >= (uniform unsigned int64)m)
                    return j;
    }
    return -1;
}

export void entry__(H_PARAMS__, S_PARAMS__, X_PARAMS__, const uniform INDEX__ at[], uniform int64 n, uniform int64 m,
                    uniform int64 inner, NEUTRAL_PARAMS__, uniform int64 parts, uniform int tasks DONE_PARAM__) {
    if (parts < 2) {
        if (tasks >= 2) {
            launch[tasks] owned__(H__, X__, at, n, m, inner DONE__);
            sync;
            return;
        }
        range__(H__, X__, at, 0, n, m, inner DONE__);
        return;
    }
    uniform int64 bins = m * inner;
    if (tasks < 2) {
        // One after another, each as a task: so that each is compiled as a loop of its own.
        for (uniform int64 part = 0; part < parts; ++part) {
            launch part_task__(S__, X__, at, n, m, inner, NEUTRAL__, part, parts DONE__);
            sync;
        }
        gather__(H__, S__, bins, parts, 0, bins);
    } else {
        launch[(uniform int)min((uniform int64)tasks, parts)] parts__(S__, X__, at, n, m, inner, NEUTRAL__, parts DONE__);
        sync;
        launch[tasks] gathers__(H__, S__, bins, parts);
        sync;
    }
}
