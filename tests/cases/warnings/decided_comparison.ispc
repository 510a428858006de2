// Comparisons that their types decide.
export bool f(uint x, int8 y, float z, uniform uint8 w, int v) {
    bool a = x < 0;                       //~ warning: W0216
    a = a || 0 <= x;                      //~ warning: W0216
    a = a || y == 200;                    //~ warning: W0216
    a = a || z == 0.1d;                   //~ warning: W0216
    a = a || 300 > w;                     //~ warning: W0216
    a = a || v < 0u;                      //~ warning: W0216
    a = a || v == 0xffffffff;             //~ warning: W0215
    a = a || v == 0x80000000;             //~ warning: W0215
    a = a || v < 0xf0000000u;             //~ warning: W0215
    a = a || y == (uniform uint8)255;     //~ warning: W0215
    return a || x > 0 || y == 127 || z == 0.5d || z < 0.1d || w < 255 || x == 0xffffffff;
}
