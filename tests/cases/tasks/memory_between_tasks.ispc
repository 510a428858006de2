// Memory allocated in one task and freed in another.
//~ memory: 4000000
//~ run: f(n=200) result == 200 * 4000
struct Cell { uniform int values[1000]; };
task void make(uniform Cell *uniform cells[]) {
    uniform Cell *uniform cell = uniform new uniform Cell;
    for (uniform int k = 0; k < 1000; ++k) cell->values[k] = 4;
    cells[taskIndex] = cell;
}
task void use(uniform Cell *uniform cells[], uniform int *uniform sum) {
    uniform int mine = 0;
    for (uniform int k = 0; k < 1000; ++k) mine += cells[taskIndex]->values[k];
    delete cells[taskIndex];
    atomic_add_global(sum, mine);
}
export uniform int f(uniform int n) {
    uniform Cell *uniform cells[200];
    uniform int sum = 0;
    launch[n] make(cells);
    sync;
    launch[n] use(cells, &sum);
    sync;
    return sum;
}
