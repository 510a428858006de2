// Operators on values of one enum give that enum again.
//~ run: f(n=1) result == 3 + 100 * 4 + 1000
//~ run: f(n=2) result == 3 + 100 * 5 + 1000
enum Flags { NONE, A = 1, B = 2, C = 4 };
enum Other { D = 8 };
static uniform int number(uniform Flags flags) { return flags; }
static int lanes(Flags flags) { return flags; }
export uniform int f(uniform int n) {
    uniform Flags both = A | B;
    uniform Flags changed = both;
    changed = n == 2 ? A | C : C & C;
    Flags mine = programIndex == 0 ? A : B | C;
    mine = mine ^ mine;
    uniform int plain = A | D;
    assert(plain == 9 && lanes(mine) == 0 && lanes(mine | A) == 1);
    return number(both | NONE) + 100 * number(changed) + 1000;
}
