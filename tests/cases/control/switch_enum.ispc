// Enumerators as cases, uniform.
//~ run: f(k=0) result == 5
//~ run: f(k=2) result == 7
enum Kind { A, B, C };
export uniform int f(uniform int k) {
    uniform Kind kind = (uniform Kind)k;
    switch (kind) {
    case A: return 5;
    case C: return 7;
    default: return 0;
    }
}
