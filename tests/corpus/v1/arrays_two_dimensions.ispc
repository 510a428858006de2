// Rows and columns with varying indices.
export void f(uniform int out[]) {
    uniform int grid[5][7];
    foreach (y = 0 ... 5, x = 0 ... 7) grid[y][x] = y * 10 + x;
    foreach (i = 0 ... 35) out[i] = grid[i % 5][i / 5];
}
// call: f(out=zeros:i32:35)
