// The name of a struct, or of another type, may also name a variable, a parameter and a member.
//~ run: f(n=3) result == 3 + 4 + 5
struct point { int x; int y; };
struct frame { point point; };
typedef int count;
uniform int sum(uniform struct point point) { return point.x + point.y; }
export uniform int f(uniform int n) {
    uniform struct point point;
    point.x = n;
    point.y = 4;
    uniform struct frame frame;
    frame.point = point;
    uniform int count = 5;
    return sum(frame.point) + count;
}
