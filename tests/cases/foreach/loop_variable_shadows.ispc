// The index hides a variable of the same name.
//~ run: f() result == 5
export uniform int f() {
    uniform int i = 5;
    uniform int sink[64];
    foreach (i = 0 ... 64) sink[i] = i;
    return i;
}
