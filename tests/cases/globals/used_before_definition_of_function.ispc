// Functions see globals declared above them, and may have forward declarations.
//~ run: f() result == 8
uniform int late();
export uniform int f() { return late() * 2; }
uniform int four = 4;
uniform int late() { return four; }
