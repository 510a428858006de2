// A macro that nobody defined is one error, whatever it stands before.
BEGIN_NAMESPACE
struct Point { float x; };
END_NAMESPACE

API uniform float length(uniform Point p);
EXTERNAL void reset();
LINKAGE Point origin();
LINKAGE Other other;
enum Kind { A };
KIND_API enum Kind kind();
DEPRECATED
static void quiet() { }
float ok(Point p) { return p.x; }
