// Pseudo-random numbers, the sequences of ISPC: L'Ecuyer's LFSR113, four combined Tausworthe generators ("Tables of maximally equidistributed
// combined LFSR generators", Mathematics of Computation 68, 1999). Period near 2^113. Not for cryptography.

#ifndef __RNG_STATE
#define __RNG_STATE
/// struct RNGState
/// The state of a random number generator, one per lane if varying. Set it up with seed_rng.
struct RNGState {
    uint32 z1;
    uint32 z2;
    uint32 z3;
    uint32 z4;
};
#endif

/// void seed_rng(RNGState *state, uint32 seed)
/// Starts a sequence of random numbers, the same as ISPC's for that seed. Lanes that shall draw different numbers need
/// different seeds; the first numbers of near seeds resemble one another.
static inline void seed_rng(SHAPE RNGState *uniform state, SHAPE uint32 seed) {
    SHAPE uint32 inner = ((seed >> 8) & 0xff00u) | ((seed << 8) & 0xff0000u);
    state->z1 = seed;
    state->z2 = seed ^ 0xbeeff00du;
    state->z3 = (seed << 16) | (seed >> 16);
    // The bytes in reverse.
    state->z4 = (seed << 24) | inner | (seed >> 24);
}

/// uint32 random(RNGState *state)
/// The next random number, all 32 bits of it.
static inline SHAPE uint32 random(SHAPE RNGState *uniform state) {
    SHAPE uint32 z1 = state->z1;
    SHAPE uint32 z2 = state->z2;
    SHAPE uint32 z3 = state->z3;
    SHAPE uint32 z4 = state->z4;
    SHAPE uint32 n1 = ((z1 & 0xfffffffeu) << 18) ^ (((z1 << 6) ^ z1) >> 13);
    SHAPE uint32 n2 = ((z2 & 0xfffffff8u) << 2) ^ (((z2 << 2) ^ z2) >> 27);
    SHAPE uint32 n3 = ((z3 & 0xfffffff0u) << 7) ^ (((z3 << 13) ^ z3) >> 21);
    SHAPE uint32 n4 = ((z4 & 0xffffff80u) << 13) ^ (((z4 << 3) ^ z4) >> 12);
    state->z1 = n1;
    state->z2 = n2;
    state->z3 = n3;
    state->z4 = n4;
    return n1 ^ n2 ^ n3 ^ n4;
}

/// float frandom(RNGState *state)
/// The next random number as a float in [0, 1): its lower 23 bits times 2^-23, as in ISPC.
static inline SHAPE float frandom(SHAPE RNGState *uniform state) {
    return (SHAPE float)(SHAPE int)(random(state) & 0x7fffffu) * 0x1p-23f;
}
