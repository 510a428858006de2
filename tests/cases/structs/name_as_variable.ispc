// A struct's name may be the name of a variable too.
//~ run: f() result == 5
struct thing { int a; };
export uniform int f() {
    uniform struct thing thing;
    thing.a = 5;
    return thing.a;
}
