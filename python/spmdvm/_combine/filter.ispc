// Compaction: the rows that the predicate KEEP__(X__, at) keeps, one after another. A row is `size` numbers of each array.

// The rows of a run, to those of `y` from `to` on; gives how many.
static uniform int64 pack__(X_PARAMS__, Y_PARAMS__, uniform int64 size, uniform int64 first, uniform int64 rows,
                            uniform int64 to) {
    uniform int64 next = to;
    foreach (i = first ... first + rows) {
        bool kept = KEEP__(X__, i);
        if (size == 1) {
            uniform int64 here = next;
            next += STORE_KEPT__(X__, Y__, here, kept, i);
        } else if (kept) {
            foreach_active (l) {
                uniform int64 row = extract(i, l);
                COPY_ROW__(X__, Y__, row * size, next * size, size);
                ++next;
            }
        }
    }
    return next - to;
}

task void packs__(X_PARAMS__, Y_PARAMS__, uniform int64 size, uniform int64 n, uniform int64 chunk,
                uniform int64 counts[] DONE_PARAM__) {
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 from = chunks * taskIndex / taskCount, to = chunks * (taskIndex + 1) / taskCount;
    for (uniform int64 c = from; c < to; ++c) {
        counts[c] = pack__(X__, Y__, size, c * chunk, min(chunk, n - c * chunk), c * chunk);
        DID__(min(chunk, n - c * chunk))
    }
}

// Gives how many rows were kept. Each thread packs runs where they were; then they are moved together.
export uniform int64 entry__(X_PARAMS__, Y_PARAMS__, uniform int64 size, uniform int64 n, uniform int64 chunk,
                             uniform int64 counts[], uniform int tasks DONE_PARAM__) {
    uniform int64 chunks = (n + chunk - 1) / chunk;
    uniform int64 total = 0;
    if (tasks < 2 || chunks < 2) {
        for (uniform int64 c = 0; c < chunks; ++c) {
            total += pack__(X__, Y__, size, c * chunk, min(chunk, n - c * chunk), total);
            DID__(min(chunk, n - c * chunk))
        }
        return total;
    }
    launch[(uniform int)min((uniform int64)tasks, chunks)] packs__(X__, Y__, size, n, chunk, counts DONE__);
    sync;
    for (uniform int64 c = 0; c < chunks; ++c) {
        MOVE_ROWS__(Y__, c * chunk * size, total * size, counts[c] * size);
        total += counts[c];
    }
    return total;
}
