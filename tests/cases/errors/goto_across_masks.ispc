// A goto crosses neither an unmasked block nor a loop or switch that lanes leave one by one: these have masks of their own.
export uniform int out_of_unmasked(uniform int n) {
    unmasked { if (n > 2) goto out; }            //~ error: E0220
out:
    return n;
}
export uniform int into_unmasked(uniform int n) {
    if (n > 2) goto in;                          //~ error: E0220
    unmasked { in: n += 1; }
    return n;
}
export uniform int out_of_a_parted_loop(uniform int n) {
    for (uniform int i = 0; i < 3; ++i) {
        if (programIndex > 2) break;
        if (n > 5) goto out;                     //~ error: E0220
        n += 3;
    }
out:
    return n;
}
export uniform int into_a_parted_loop(uniform int n) {
    if (n < 3) goto in;                          //~ error: E0220
    for (uniform int i = 0; i < 3; ++i) {
        if (programIndex > 1) continue;
    in: ++n;
    }
    return n;
}
export uniform int out_of_a_parted_switch(uniform int n) {
    switch (n) {
    case 1:
        if (programIndex > 1) break;
        goto out;                                //~ error: E0220
    }
out:
    return n;
}
