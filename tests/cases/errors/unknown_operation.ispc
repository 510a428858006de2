export uniform int f() {
    return __op_no_such_thing(1); //~ error: E0234
}
