//! The operation table: every operation of the bytecode, once.
//!
//! `for_each_op!(callback)` hands all rows to a macro. `isa/mod.rs` derives the [`Op`](super::Op) enum and the
//! [`OPS`](super::OPS) data from them, `sem/eval.rs` the dispatcher to scalar meanings, the interpreter its handlers.
//! Everything else (assembler, encoder, verifier, generator, `docs/isa.md`) is ordinary code that reads `OPS`.
//!
//! A row: `Name "text" form(…) [properties] "documentation";` with these forms:
//!
//! | form | operands |
//! |---|---|
//! | `unary(TYPES, meaning)`, `binary(TYPES, meaning)`, `ternary(TYPES, meaning)` | elementwise, all of the operation's type |
//! | `checked(TYPES, meaning)` | elementwise binary; traps where an active lane's second operand is 0; inactive lanes give 0 |
//! | `compare(TYPES, meaning)` | elementwise, two operands of the type, result `bool` |
//! | `reduce(TYPES, meaning)` | varying operand → uniform result over the active lanes, by a fixed tree |
//! | `special(TYPES, SIGNATURE, EFFECT, INACTIVE)` | anything else; see [`Signature`](super::Signature) |

/// Calls `$callback!` with every row of the operation table.
#[macro_export]
macro_rules! for_each_op {
    ($callback:path) => {
        $callback! {
            // Moves.
            Mov "mov" special(SCALAR, MOVE, Pure, Computed) [] "Copies all lanes; a uniform source and a varying destination broadcast. Initialises a register.";
            Assign "assign" special(SCALAR, ASSIGN, Pure, Kept) [] "Writes the active lanes of an existing varying register; the others keep their value.";
            Select "select" special(SCALAR, SELECT, Pure, Computed) [] "`c ? a : b`, lane by lane; all operands are evaluated.";
            Convert "cvt" special(SCALAR, CONVERT, Pure, Computed) [] "Converts as a cast does: integers wrap, floats round to nearest even, float to integer saturates (NaN gives 0), to bool tests for non-zero.";
            Bitcast "bitcast" special(SCALAR, BITCAST, Pure, Computed) [] "Reinterprets the bits as another type of the same size; a NaN is made canonical first.";

            // Arithmetic.
            Add "add" binary(ARITH, add) [commutative] "Sum; integers wrap.";
            Sub "sub" binary(ARITH, sub) [] "Difference; integers wrap.";
            Mul "mul" binary(ARITH, mul) [commutative] "Product; integers wrap.";
            Neg "neg" unary(ARITH, neg) [] "Negation; integers wrap, floats flip the sign.";
            Abs "abs" unary(ARITH, abs) [] "Absolute value; the least integer wraps to itself.";
            Min "min" binary(SCALAR, min) [] "`a < b ? a : b`.";
            Max "max" binary(SCALAR, max) [] "`a > b ? a : b`.";
            IDiv "idiv" checked(INT, idiv) [] "Integer quotient, toward zero; `INT_MIN / -1` wraps. Traps `division_by_zero`.";
            IRem "irem" checked(INT, irem) [] "Integer remainder with the dividend's sign. Traps `division_by_zero`.";
            MulHi "mulhi" binary(INT, mulhi) [commutative] "High half of the double-width product.";
            FDiv "fdiv" binary(FLOAT, fdiv) [] "IEEE quotient.";
            FRem "frem" binary(FLOAT, frem) [] "C `fmod`: exact remainder with the dividend's sign, which a NaN has too (see `sign`).";
            Sign "sign" unary(FLOAT, sign) [] "Zero with the operand's sign. Of NaNs only those that `frem` makes have one; others count as positive.";
            Fma "fma" ternary(FLOAT, fma) [] "`a * b + c` with one rounding.";
            Sqrt "sqrt" unary(FLOAT, sqrt) [] "Correctly rounded square root.";
            Floor "floor" unary(FLOAT, floor) [] "Largest integer not above.";
            Ceil "ceil" unary(FLOAT, ceil) [] "Smallest integer not below.";
            Trunc "trunc" unary(FLOAT, trunc) [] "Integer part, toward zero.";
            RoundEven "round_even" unary(FLOAT, round_even) [] "Nearest integer, ties to even.";

            // Bits.
            And "and" binary(BITS, and) [commutative] "Bitwise and.";
            Or "or" binary(BITS, or) [commutative] "Bitwise or.";
            Xor "xor" binary(BITS, xor) [commutative] "Bitwise exclusive or.";
            Not "not" unary(BITS, not) [] "Bitwise complement; logical not for `bool`.";
            Shl "shl" binary(INT, shl) [] "Shift left; the count is taken modulo the bit width.";
            Shr "shr" binary(INT, shr) [] "Shift right, arithmetic for signed types; the count is taken modulo the bit width.";
            Popcnt "popcnt" unary(INT, popcnt) [] "Number of set bits.";
            Clz "clz" unary(INT, clz) [] "Leading zero bits; the bit width for 0.";
            Ctz "ctz" unary(INT, ctz) [] "Trailing zero bits; the bit width for 0.";

            // Comparisons.
            Eq "eq" compare(SCALAR, eq) [commutative] "Equal; NaN equals nothing.";
            Ne "ne" compare(SCALAR, ne) [commutative] "Not equal; true if an operand is NaN.";
            Lt "lt" compare(SCALAR, lt) [] "Less than.";
            Le "le" compare(SCALAR, le) [] "Less than or equal.";
            Gt "gt" compare(SCALAR, gt) [] "Greater than.";
            Ge "ge" compare(SCALAR, ge) [] "Greater than or equal.";

            // Lanes.
            Iota "iota" special(I32, IOTA, Pure, Computed) [] "The lane's index.";
            Shuffle "shuffle" special(SCALAR, SHUFFLE, Pure, Computed) [] "Lane *l* gets `v[index[l] mod W]`; reads inactive lanes too.";
            Extract "extract" special(SCALAR, EXTRACT, Pure, Computed) [] "The value of lane `index mod W`, active or not.";
            Insert "insert" special(SCALAR, INSERT, Pure, Computed) [] "A copy of a register with lane `index mod W` replaced.";
            MaskGet "mask.get" special(BOOL, MASK_GET, Mask, Computed) [] "True in the active lanes.";
            MaskBits "mask.bits" special(U64, MASK_BITS, Mask, Computed) [] "The execution mask; bit *i* is lane *i*.";
            PackMask "packmask" special(U64, PACK_MASK, Mask, Computed) [] "Bits of the active lanes whose operand is true.";
            Any "any" special(BOOL, VOTE, Mask, Computed) [] "Is the operand true in some active lane?";
            All "all" special(BOOL, VOTE, Mask, Computed) [] "Is the operand true in every active lane?";
            ReduceAdd "reduce.add" reduce(ARITH, add) [] "Sum over the active lanes; the others contribute 0 (−0 for floats).";
            ReduceMul "reduce.mul" reduce(ARITH, mul) [] "Product over the active lanes; the others contribute 1.";
            ReduceMin "reduce.min" reduce(ARITH, min) [] "Minimum over the active lanes; the others contribute the greatest value.";
            ReduceMax "reduce.max" reduce(ARITH, max) [] "Maximum over the active lanes; the others contribute the least value.";
            ReduceAnd "reduce.and" reduce(BITS, and) [] "Bitwise and over the active lanes.";
            ReduceOr "reduce.or" reduce(BITS, or) [] "Bitwise or over the active lanes.";
            ReduceXor "reduce.xor" reduce(BITS, xor) [] "Bitwise exclusive or over the active lanes.";

            // Addresses.
            PAdd "padd" special(U64, PTR_ADD, Pure, Computed) [] "Pointer plus signed byte offset (`i64`), staying in its region.";
            GlobalAddr "global.addr" special(U64, GLOBAL, Pure, Computed) [] "The address of a global.";
            FrameAddr "frame.addr" special(U64, FRAME, Pure, Computed) [] "The address of a byte of the frame's memory.";
            FuncAddr "func.addr" special(U64, FUNC, Pure, Computed) [] "A function as a value: its index plus one.";

            // Memory.
            Load "load" special(SCALAR, LOAD, Read, Zero) [] "Reads `base + index*scale + disp`; varying if an address part is (a gather).";
            LoadLane "load.lane" special(SCALAR, LOAD_LANE, Read, Zero) [] "Reads `base + index*scale + disp + lane*sizeof`: a varying value kept in memory.";
            Store "store" special(SCALAR, STORE, Write, Skipped) [] "Writes `base + index*scale + disp`; a scatter if an address part is varying, ascending lane order.";
            StoreLane "store.lane" special(SCALAR, STORE_LANE, Write, Skipped) [] "Writes `base + index*scale + disp + lane*sizeof`.";
            MemCopy "mem.copy" special(NONE, MEM_COPY, Write, Skipped) [] "Copies bytes between non-overlapping or overlapping ranges (as `memmove`), lane by lane.";
            MemSet "mem.set" special(NONE, MEM_SET, Write, Skipped) [] "Fills bytes with the low byte of a value, lane by lane.";
            Alloc "alloc" special(U64, ALLOC, Write, Zero) [] "Allocates zeroed memory of so many bytes; one allocation, or one per active lane. Traps `out_of_memory`.";
            Free "free" special(NONE, FREE, Write, Skipped) [] "Frees an allocation (null is ignored). Traps `bad_free`.";
            AtomicAdd "atomic.add" special(ARITH, ATOMIC, Write, Zero) [] "Adds to memory and gives the value before, ascending lane order.";
            AtomicSub "atomic.sub" special(ARITH, ATOMIC, Write, Zero) [] "Subtracts from memory and gives the value before.";
            AtomicMin "atomic.min" special(ARITH, ATOMIC, Write, Zero) [] "Stores the minimum and gives the value before.";
            AtomicMax "atomic.max" special(ARITH, ATOMIC, Write, Zero) [] "Stores the maximum and gives the value before.";
            AtomicAnd "atomic.and" special(INT, ATOMIC, Write, Zero) [] "Bitwise and to memory; gives the value before.";
            AtomicOr "atomic.or" special(INT, ATOMIC, Write, Zero) [] "Bitwise or to memory; gives the value before.";
            AtomicXor "atomic.xor" special(INT, ATOMIC, Write, Zero) [] "Bitwise exclusive or to memory; gives the value before.";
            AtomicSwap "atomic.swap" special(ARITH, ATOMIC, Write, Zero) [] "Stores a value and gives the one before.";
            AtomicCas "atomic.cas" special(ARITH, ATOMIC_CAS, Write, Zero) [] "Stores the new value where memory equals the expected one (bit for bit); gives the value before.";

            Fence "fence" special(NONE, PLAIN, Effect, Skipped) [] "Orders all memory accesses before it before those after it, as other tasks see them.";

            // Other effects.
            Print "print" special(NONE, PRINT, Effect, Skipped) [] "Prints its arguments by a format.";
            Assert "assert" special(BOOL, ASSERT, Trap, Skipped) [] "Traps `assertion` for the lowest active lane whose operand is false.";
            Abort "abort" special(NONE, ABORT, Trap, Skipped) [] "Traps `abort` with a message.";
            Clock "clock" special(U64, CLOCK, Effect, Computed) [] "A monotonic counter in nanoseconds. Not deterministic.";
            ThreadIndex "thread.index" special(I32, CLOCK, Effect, Computed) [] "The number of the thread that executes, from 0 below `thread.count`. Not deterministic.";
            ThreadCount "thread.count" special(I32, CLOCK, Effect, Computed) [] "The number of threads that run tasks. Depends on the machine's options.";

            HostCall "host.call" special(NONE, HOST, Effect, Skipped) [] "Calls a function of the host, once for the gang: what an import names. A varying result is 0 in lanes that are not active. Traps `host_error`.";

            // Tasks.
            Launch "launch" special(NONE, LAUNCH, Call, Skipped) [] "Launches as many tasks as the product of its first three arguments, all lanes on; each gets its three indices (the first varies fastest), the three counts and the other arguments.";
            LaunchInd "launch.ind" special(NONE, LAUNCH_IND, Call, Skipped) [] "Launches a task through a uniform function value. Traps `bad_function`.";
            Sync "sync" special(NONE, PLAIN, Effect, Skipped) [] "Waits until all tasks that this call has launched are done; `ret` does so too. Traps what the first of them trapped.";

            // Uniform control.
            Jmp "jmp" special(NONE, JUMP, Control, Skipped) [] "Jumps.";
            BrTrue "br.true" special(NONE, BRANCH, Control, Skipped) [] "Jumps if the uniform condition is true.";
            BrFalse "br.false" special(NONE, BRANCH, Control, Skipped) [] "Jumps if the uniform condition is false.";
            Call "call" special(NONE, CALL, Call, Skipped) [] "Calls a function under the current mask.";
            CallInd "call.ind" special(NONE, CALL_IND, Call, Skipped) [] "Calls through a uniform function value. Traps `bad_function`.";
            Ret "ret" special(NONE, PLAIN, Control, Skipped) [] "Ends the function.";

            // The mask stack (docs/internals/bytecode.md).
            MaskIf "mask.if" special(NONE, MASK_TEST, Control, Skipped) [] "Pushes an If entry and keeps the lanes where the condition holds; jumps if none is left.";
            MaskElse "mask.else" special(NONE, MASK_JUMP, Control, Skipped) [] "Switches to the lanes that wait for the else part; jumps if there are none.";
            MaskEndif "mask.endif" special(NONE, MASK_JUMP, Control, Skipped) [] "Pops the If entry and restores; jumps if no lane is left.";
            LoopBegin "loop.begin" special(NONE, PLAIN, Control, Skipped) [] "Pushes a Loop entry.";
            LoopTest "loop.test" special(NONE, MASK_TEST, Control, Skipped) [] "Lanes where the condition fails leave the loop; jumps if none is left.";
            LoopNext "loop.next" special(NONE, MASK_JUMP, Control, Skipped) [] "Lanes that continued come back; jumps if there are none at all.";
            LoopBack "loop.back" special(NONE, BACK, Control, Skipped) [] "Jumps back if a lane is active, else falls through.";
            LoopEnd "loop.end" special(NONE, MASK_JUMP, Control, Skipped) [] "Pops the Loop entry and restores; jumps if no lane is left.";
            SwitchBegin "switch.begin" special(NONE, MASK_JUMP, Control, Skipped) [] "Pushes a Switch entry in which every lane waits for its case, and jumps to the first one.";
            SwitchCase "switch.case" special(NONE, MASK_TEST, Control, Skipped) [] "Waiting lanes where the condition holds join; jumps if no lane is active.";
            SwitchEnd "switch.end" special(NONE, MASK_JUMP, Control, Skipped) [] "Pops the Switch entry and restores; jumps if no lane is left.";
            MaskBreak "mask.break" special(NONE, MASK_JUMP, Control, Skipped) [] "All active lanes leave to the innermost Loop, Switch or Each entry; jumps.";
            MaskBreakIf "mask.break.if" special(NONE, MASK_TEST, Control, Skipped) [] "Active lanes where the condition holds leave; jumps if none is left.";
            MaskContinue "mask.continue" special(NONE, MASK_JUMP, Control, Skipped) [] "All active lanes wait for the next turn of the innermost Loop (or end their turn of Each); jumps.";
            MaskContinueIf "mask.continue.if" special(NONE, MASK_TEST, Control, Skipped) [] "Active lanes where the condition holds continue; jumps if none is left.";
            MaskReturn "mask.return" special(NONE, MASK_JUMP, Control, Skipped) [] "All active lanes leave the function (as far as they were active outside an Every entry); jumps.";
            MaskReturnIf "mask.return.if" special(NONE, MASK_TEST, Control, Skipped) [] "Active lanes where the condition holds leave the function; jumps if none is left.";
            Everywhere "everywhere" special(NONE, PLAIN, Control, Skipped) [] "Pushes an Every entry and turns all lanes on.";
            EverywhereEnd "everywhere.end" special(NONE, MASK_JUMP, Control, Skipped) [] "Pops the Every entry and restores; jumps if no lane is left.";
            EachBegin "each.begin" special(NONE, PLAIN, Control, Skipped) [] "Pushes an Each entry: every active lane is to be visited.";
            EachLane "each.lane" special(I32, EACH, Control, Skipped) [] "Takes the lowest lane to visit: its index, and only that lane on. Jumps if there is none.";
            EachAll "each.all" special(I32, EACH, Control, Skipped) [] "Takes the lowest lane to visit: its index, and all lanes on. Jumps if there is none.";
            EachUnique "each.unique" special(SCALAR, EACH_UNIQUE, Control, Skipped) [] "Takes the lowest lane's value and all lanes to visit that equal it. Jumps if there is none.";
            EachEnd "each.end" special(NONE, MASK_JUMP, Control, Skipped) [] "Pops the Each entry and restores; jumps if no lane is left.";
        }
    };
}
