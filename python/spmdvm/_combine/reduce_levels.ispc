// All levels: that of the elements to `a`, then to and fro between `a` and `b`. `plan` has four numbers for each.
export void entry__(X_PARAMS__, uniform int64 outer, uniform int64 n, uniform int64 inner, NEUTRAL_PARAMS__, A_PARAMS__,
                    B_PARAMS__, const uniform int64 plan[], uniform int levels, uniform int tasks) {
    first__level(X__, A__, outer, n, inner, plan, NEUTRAL__, tasks);
    for (uniform int l = 1; l < levels; ++l) {
        uniform int64 chunk = plan[4 * (l - 1) + 1];
        n = (n + chunk - 1) / chunk;
        const uniform int64 * uniform level = plan + 4 * l;
        if (l & 1)
            next__level(A__, B__, outer, n, inner, level, NEUTRAL__, tasks);
        else
            next__level(B__, A__, outer, n, inner, level, NEUTRAL__, tasks);
    }
}
