// A new name for a type.
//~ run: f() result == 7
typedef int64 Big;
typedef uniform int Count;
typedef float Triple[3];
export uniform int f() {
    uniform Big b = 3;
    Count c = 4;
    uniform Triple t;
    t[2] = 0;
    return (uniform int)(b + c);
}
