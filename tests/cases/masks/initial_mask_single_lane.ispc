// With one lane left, reductions see only that lane.
//~ run: f() result == 0
//~   mask: lane == 0
export uniform int f() { return reduce_max(programIndex); }
