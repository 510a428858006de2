// The machine: sizes of addresses, the number of cores, and stopping a program.

typedef uint64 size_t;
typedef int64 ptrdiff_t;
typedef int64 intptr_t;
typedef uint64 uintptr_t;

/// uniform int num_cores()
/// The number of cores that tasks run on. Tasks run on the core that launches them, so this is 1.
static inline uniform int num_cores() {
    return 1;
}

/// void abort()
/// Stops the program with the trap `abort`, if a lane is active.
static void abort() {
    __op_abort("abort");
}
