"""One trial: a random program, called in every way. Run as `python trial.py SEED [COUNT]`.

What is expected: results are those of the interpreter at another width on plain copies of the operands, whatever
overlaps; or, where operands may not overlap, a ValueError. Limits hold, handlers of signals run during calls, and
nothing ever hangs. It exits with 1 at the first difference.
"""

from __future__ import annotations

import os
import pickle
import random
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable

import arrays
import numpy as np
import programs
import spmdvm

ADDRESS_SPACE = 6 << 30
WIDTHS = [1, 2, 4, 8, 16, 32, 64]
# A limit is expected to hold within this many seconds, on a machine that does other things too.
PATIENCE = 20.0


class Differs(Exception):
    """Something was not as expected."""


class Trial:
    """Everything that happens for one seed."""

    def __init__(self, seed: int) -> None:
        """Prepare the trial of a seed: write and compile a program."""
        self.rng = random.Random(seed)
        self.program = programs.Writer(self.rng).program()
        self.dtype = programs.TYPES[self.program.result]
        engines = ["interp", "ir", "clif", "auto", "auto"]
        self.engine = self.rng.choice(engines)
        width = self.rng.choice(WIDTHS)
        jit = {"hot": self.rng.choice([1, 3, 50]), "background": self.rng.random() < 0.5}
        self.module = spmdvm.compile(self.program.source, width=width, engine=self.engine, jit=jit, timeout=60)
        other = self.rng.choice([w for w in WIDTHS if w != width])
        self.oracle = spmdvm.compile(self.program.source, width=other, engine="interp", timeout=60)
        self.note = f"engine {self.engine}, width {width}, oracle's width {other}, jit {jit}"

    def run(self) -> None:
        """Do some of the things that can be done."""
        things: list[Callable[[], None]] = [
            self.mapped,
            self.mapped,
            self.looked_up,
            self.swept,
            self.swept,
            self.in_threads,
            self.global_variables,
            self.after_fork,
            self.limits,
            self.signals,
            self.pickled,
        ]
        for thing in self.rng.sample(things, 4):
            self.note_now = thing.__name__
            thing()

    def expect(self, given: np.ndarray, wanted: np.ndarray, what: str) -> None:
        """Fail if two arrays differ."""
        given, wanted = np.asarray(given), np.asarray(wanted)
        if not arrays.same(given, wanted):
            differing = "of other shape or type"
            if given.shape == wanted.shape:
                at = np.argwhere(~((given == wanted) | ((given != given) & (wanted != wanted))))
                differing = f"first at {at[0].tolist() if len(at) else 'signs of zeros'}"
            raise Differs(f"{what}: {differing}\ngiven  {given!r}\nwanted {wanted!r}")

    def mapped(self) -> None:
        """Call a function of numbers on arrays, with `out`, `where` and `threads`."""
        rng = self.rng
        shape = arrays.shape(rng)
        operands = [arrays.operand(rng, programs.TYPES[ty], shape) for ty in self.program.params]
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        self.call_mapped("mapped", operands, [], shape)

    def looked_up(self) -> None:
        """Do the same with an array that all elements see, which may be `out` too."""
        rng = self.rng
        x = arrays.strided(rng, self.dtype, arrays.shape(rng) or (3,))
        table = arrays.values(rng, self.dtype, rng.choice([8, 20]))
        self.call_mapped("looked_up", [x], [table, 8], x.shape)

    def call_mapped(self, name: str, operands: list, rest: list, shape: tuple[int, ...]) -> None:
        """Call with an `out` that may overlap the operands; compare with a call on copies."""
        rng = self.rng
        options: dict = {"threads": rng.choice([1, 1, 2, 0])}
        copies = [x.copy() for x in operands] + [x.copy() if isinstance(x, np.ndarray) else x for x in rest]
        plain = getattr(self.oracle, name)(*copies)
        plain = np.asarray(plain, self.dtype)
        if rng.random() < 0.3:
            self.expect(np.asarray(getattr(self.module, name)(*operands, *rest, **options), self.dtype), plain, name)
            return
        candidates = [x for x in [*operands, *rest] if isinstance(x, np.ndarray) and x.dtype == self.dtype]
        candidates = [x for x in candidates if x.shape == shape]
        if candidates and rng.random() < 0.7:
            out = arrays.overlapping(rng, rng.choice(candidates))
        else:
            out = arrays.strided(rng, self.dtype, shape)
        mask: np.ndarray | None = None
        if rng.random() < 0.4:
            mask = arrays.strided(rng, np.int8, shape) > 0
            options["where"] = mask
        # Anything may overlap `out`, so what is expected is computed before.
        wanted = np.where(True if mask is None else mask.copy(), plain, out.copy()).astype(self.dtype)
        try:
            getattr(self.module, name)(*operands, *rest, out=out, **options)
        except ValueError as error:
            if "overlap" in str(error) or "share" in str(error):
                return
            raise
        self.expect(out, wanted, f"{name} with out= of strides {out.strides} and {sorted(options)}")

    def swept(self) -> None:
        """Call a function of arrays, often enough for it to be compiled."""
        rng = self.rng
        n, rounds = rng.choice([0, 1, 15, 16, 17, 100, 3000]), rng.choice([1, 5, 60])
        source = arrays.values(rng, self.dtype, n)
        results = []
        for module in (self.module, self.oracle):
            module.globals["scale"] = 3
            before = int(module.globals["calls"])
            out = np.zeros(n, self.dtype)
            module.swept(out, source.copy(), n, rounds)
            results.append(out)
            if int(module.globals["calls"]) != before + 1:
                raise Differs(f"calls: {before} became {module.globals['calls']}")
        self.expect(results[0], results[1], "swept")

    def in_threads(self) -> None:
        """Call from several threads at once."""
        rng = self.rng
        n = rng.choice([100, 5000])
        operands = [arrays.values(rng, programs.TYPES[ty], n) for ty in self.program.params]
        wanted = np.asarray(self.oracle.mapped(*operands), self.dtype)
        failures: list[BaseException] = []

        def call() -> None:
            try:
                for _ in range(5):
                    self.expect(np.asarray(self.module.mapped(*operands), self.dtype), wanted, "mapped in a thread")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=call) for _ in range(rng.randint(2, 5))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def global_variables(self) -> None:
        """Set a global, and look at it through a view that outlives the module."""
        value = self.dtype(self.rng.randint(0, 100))
        x = np.zeros(4, self.dtype)
        results = []
        for module in (self.module, self.oracle):
            module.globals["scale"] = value
            out = np.zeros(4, self.dtype)
            module.swept(out, x, 4, 1)
            results.append(out)
            module.globals["scale"] = 3
        self.expect(results[0], results[1], "swept with another global")
        source = f"extern uniform {self.program.result} a[];\n"
        source += "export void bump(uniform int n) { foreach (i = 0 ... n) a[i] += 1; }"
        module = spmdvm.compile(source, engine=self.engine)
        shared = arrays.values(self.rng, self.dtype, 100)
        wanted = (shared + self.dtype(1)).astype(self.dtype)
        module.globals["a"] = shared
        module.bump(100)
        view = module.globals["a"]
        del module
        self.expect(view, wanted, "an extern array")

    def after_fork(self) -> None:
        """Call in a child of this process."""
        rng = self.rng
        operands = [arrays.values(rng, programs.TYPES[ty], 500) for ty in self.program.params]
        wanted = np.asarray(self.module.mapped(*operands), self.dtype)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            signal.alarm(int(PATIENCE))
            again = np.asarray(self.module.mapped(*operands), self.dtype)
            os._exit(0 if arrays.same(again, wanted) else 1)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise Differs(f"the child of a fork ended with status {status}")

    def endless(self, **limits: object) -> spmdvm.Module:
        """Compile a program that needs limits."""
        return spmdvm.compile(programs.ENDLESS, engine=self.engine, width=self.rng.choice(WIDTHS), **limits)

    def limits(self) -> None:
        """Run into every limit."""
        rng = self.rng
        kind = rng.randrange(5)
        start = time.monotonic()
        try:
            if kind == 0:
                self.endless(timeout=0.05).endless(np.zeros(2, np.int32))
            elif kind == 1:
                self.endless(fuel=rng.randint(1, 100_000)).endless(np.zeros(2, np.int32))
            elif kind == 2:
                self.endless(memory=rng.choice([1 << 20, 64 << 20])).eats()
            elif kind == 3:
                self.endless().deep(0)
            else:
                self.endless(timeout=0.05).fills(np.zeros(10_000_000, np.int8), 10_000_000)
        except (spmdvm.OutOfTime, spmdvm.OutOfFuel, spmdvm.OutOfMemory, spmdvm.StackOverflow) as error:
            wanted = ["timeout", "out_of_fuel", "out_of_memory", "stack_overflow", "timeout"][kind]
            if error.kind != wanted:
                raise Differs(f"{error.kind} instead of {wanted}") from error
        else:
            raise Differs(f"a limit of kind {kind} did not hold")
        if time.monotonic() - start > PATIENCE:
            raise Differs(f"a limit of kind {kind} held after {time.monotonic() - start:.1f} s only")
        counter = np.zeros(1, np.int32)
        self.endless(timeout=60).tasks(counter, 300)
        if counter[0] != 300:
            raise Differs(f"{counter[0]} of 300 tasks ran")

    def signals(self) -> None:
        """End an endless call by what the handler of a signal raises, or by what it writes."""
        rng = self.rng
        flag = np.zeros(2, np.int32)
        raises = rng.random() < 0.5

        class Stop(Exception):
            """What the handler raises."""

        def handler(_number: int, _frame: object) -> None:
            if raises:
                raise Stop
            flag[0] = 1

        number = rng.choice([signal.SIGALRM, signal.SIGUSR1])
        before = signal.signal(number, handler)
        module = self.endless(timeout=PATIENCE)
        timer = threading.Timer(0.05, os.kill, (os.getpid(), number))
        try:
            if number == signal.SIGALRM:
                signal.setitimer(signal.ITIMER_REAL, 0.05)
            else:
                timer.start()
            module.endless(flag)
            if raises:
                raise Differs("what the handler of a signal raised was lost")
        except Stop:
            pass
        except spmdvm.OutOfTime as error:
            raise Differs(f"the handler of signal {number} did not run during the call") from error
        finally:
            if timer.ident is not None:
                timer.join()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(number, before)

    def pickled(self) -> None:
        """Call a module that was pickled."""
        again = pickle.loads(pickle.dumps(self.module))
        operands = [arrays.values(self.rng, programs.TYPES[ty], 50) for ty in self.program.params]
        self.expect(again.mapped(*operands), self.module.mapped(*operands), "mapped by a pickled module")


def main() -> int:
    """Try the seeds of the command line; say each before it is tried."""
    first = int(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    np.seterr(all="ignore")
    for seed in range(first, first + count):
        print(f"seed {seed}", flush=True)
        trial: Trial | None = None
        try:
            trial = Trial(seed)
            trial.run()
        except Exception as error:
            if trial is not None:
                print(f"in `{getattr(trial, 'note_now', '?')}`: {trial.note}\n{trial.program.source}", flush=True)
            print(f"{type(error).__name__}: {error}", flush=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
