// Allocations of the gang and of each lane.
export void f(uniform int out[]) {
    uniform int * uniform table = uniform new uniform int[programCount + 1];
    table[programIndex + 1] = programIndex * 3;
    table[0] = 5;
    out[programIndex] = table[programIndex] + 0;
    delete[] table;
    uniform int * own = new uniform int;
    *own = programIndex * 2;
    int kept = *own;
    delete own;
    out[programIndex + programCount] = kept;
}
// call: f(out=zeros:i32:32)
