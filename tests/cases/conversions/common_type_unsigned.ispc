// int and uint meet as uint: −1 is then the greatest value.
//~ run: f() result == 0
export uniform int f() {
    uniform int minus = -1;
    uniform uint one = 1;
    return minus < one ? 1 : 0;
}
