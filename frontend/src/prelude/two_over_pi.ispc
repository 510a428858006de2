// The binary digits of 2/pi, for the Payne-Hanek reduction of huge angles: word i holds the bits of weight 2^(-64(i-1)-1)
// to 2^(-64 i). The word of zeros in front lets the window of digits start before the binary point.

static const uniform uint64 __two_over_pi[20] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};

// An angle as quadrant * pi/2 + (hi + lo), |hi| <= pi/4.
struct __FloatAngle {
    float hi;
    float lo;
    int32 quadrant;
};

struct __DoubleAngle {
    double hi;
    double lo;
    int64 quadrant;
};
