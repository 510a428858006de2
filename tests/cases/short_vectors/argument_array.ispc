// An array of short vectors from outside; three floats take the room of four.
//~ run: f() result == 16
export uniform int f() { return sizeof(uniform float<3>); }
