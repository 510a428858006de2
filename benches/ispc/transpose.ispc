// A matrix turned over: rows are read as vectors and scattered.
export void transpose(uniform int rows, uniform int columns, const uniform float from[], uniform float to[]) {
    for (uniform int row = 0; row < rows; ++row) {
        foreach (column = 0 ... columns)
            to[column * rows + row] = from[row * columns + column];
    }
}
