export void f(uniform float x[][4], uniform int i, uniform int j) {
    x[i, j] = 1;
    x[i + 1, j * 2] = x[(i, j)][0] + x[1, 2, 3];
    uniform float * uniform p = uniform new uniform float[i, j];
    a_name_that_is_so_long_that_nobody_wants_to_read_it_again_in_full[i + 1, j + 2] = 0;
}
