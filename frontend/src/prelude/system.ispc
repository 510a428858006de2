// The machine: sizes of addresses, the number of cores, and stopping a program.

typedef uint64 size_t;
typedef int64 ptrdiff_t;
typedef int64 intptr_t;
typedef uint64 uintptr_t;

/// uniform int num_cores()
/// The number of threads that tasks run on: as many as the machine has cores, if the host did not choose otherwise.
static inline uniform int num_cores() {
    return __op_thread_count();
}

/// void abort()
/// Stops the program with the trap `abort`, if a lane is active.
static void abort() {
    __op_abort("abort");
}
