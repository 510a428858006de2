"""Random numbers in kernels: `rng = spmdvm.rng(seed, i)`, and `rng.random()`, `rng.normal()` …

The generator is Philox4x32-10 of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011):
the numbers of a draw are a function of the seed, the stream and how many draws there were before. So each element has
numbers of its own, and the same ones on every engine, at every width and with any number of threads. A draw takes all
128 bits of one block, of which the first 64 make a number, and the others a second one where two are needed.

In a kernel a generator is a variable that is a tuple of four integers: the seed, the two numbers of the stream and the
count of draws. Outside of kernels `rng` is the same in Python.
"""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from typing import Any

import numpy as np

from ._types import FLOAT64, NUMBERS, Num
from ._values import Value, constant, tuple_of

_PARTS = ("uint64", "uint64", "uint32", "uint32")
METHODS = {
    "random": "random() or random(np.float32)",
    "uniform": "uniform(low, high)",
    "integers": "integers(high) or integers(low, high)",
    "normal": "normal() or normal(mean, deviation)",
    "standard_normal": "standard_normal()",
    "exponential": "exponential() or exponential(scale)",
    "standard_exponential": "standard_exponential()",
}

SUPPORT = """template <typename T, typename L> static inline
void random_words(L seed, L stream, T other, T draw, T &x0, T &x1, T &x2, T &x3) {
    T k0 = (T)seed, k1 = (T)(seed >> 32);
    T c0 = draw, c1 = (T)stream, c2 = (T)(stream >> 32), c3 = other;
    for (uniform int round = 0; round < 10; ++round) {
        L p0 = (L)c0 * (L)0xD2511F53u;
        L p1 = (L)c2 * (L)0xCD9E8D57u;
        c0 = (T)(p1 >> 32) ^ c1 ^ k0;
        c1 = (T)p1;
        c2 = (T)(p0 >> 32) ^ c3 ^ k1;
        c3 = (T)p0;
        k0 = k0 + (T)0x9E3779B9u;
        k1 = k1 + (T)0xBB67AE85u;
    }
    x0 = c0; x1 = c1; x2 = c2; x3 = c3;
}"""


class rng:
    """A generator of random numbers, one of many: `spmdvm.rng(seed, i)`.

    Each seed with each number of a stream gives numbers of its own, the same ones whenever it is made, and in kernels
    as in Python. In a kernel each element makes one of its number:

    >>> import numpy as np, spmdvm
    >>> @spmdvm.kernel
    ... def inside(i, seed: int):
    ...     rng = spmdvm.rng(seed, i)
    ...     x, y = rng.random(), rng.random()
    ...     return x * x + y * y < 1
    >>> round(4 * float(inside(np.arange(100_000), 7).mean()), 1)
    3.1

    Args:
        seed: an integer, of which 64 bits count.
        stream: likewise, such as the number of an element.
        other: a second number of the stream, of which 32 bits count.
    """

    def __init__(self, seed: int, stream: int = 0, other: int = 0) -> None:
        """Begin with the first numbers."""
        for what, number in (("seed", seed), ("stream", stream), ("other", other)):
            if not isinstance(number, (int, np.integer)):
                raise TypeError(f"spmdvm.rng(): `{what}` is an integer, not {number!r}")
        self._key = int(seed) % 2**64
        self._counter = int(stream) % 2**64, int(other) % 2**32
        self._draws = 0

    def _words(self) -> tuple[int, int, int, int]:
        k0, k1 = self._key % 2**32, self._key >> 32
        stream, c3 = self._counter
        c0, c1, c2 = self._draws, stream % 2**32, stream >> 32
        for _ in range(10):
            p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
            c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 % 2**32, (p0 >> 32) ^ c3 ^ k1, p0 % 2**32
            k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
        self._draws = (self._draws + 1) % 2**32
        return c0, c1, c2, c3

    def _units(self) -> tuple[float, float]:
        x0, x1, x2, x3 = self._words()
        return ((x1 << 32 | x0) >> 11) * 2.0**-53, ((x3 << 32 | x2) >> 11) * 2.0**-53

    def random(self, dtype: Any = np.float64) -> Any:
        """Give a number from 0 up to, but without, 1: with 53 bits, or as a `float32` with 24."""
        if np.dtype(dtype) == np.float32:
            return np.float32((self._words()[0] >> 8) * 2.0**-24)
        if np.dtype(dtype) != np.float64:
            raise TypeError(f"random() gives float64 or float32, not {np.dtype(dtype)}")
        return np.float64(self._units()[0])

    def uniform(self, low: float = 0.0, high: float = 1.0) -> np.float64:
        """Give a number from `low` up to `high`."""
        _check("uniform", low, high)
        return np.float64(low + (high - low) * self._units()[0])

    def integers(self, low: int, high: int | None = None) -> np.int64:
        """Give an integer from `low` up to, but without, `high`; of one number, from 0 up to that."""
        low, high = (0, low) if high is None else (low, high)
        _check("integers", low, high, of=(int, np.integer), what="integers")
        if low >= high:
            raise ValueError(f"integers() takes two numbers, the first one less than the second, not {low} and {high}")
        x0, x1, _, _ = self._words()
        return np.int64(int(low) + ((x1 << 32 | x0) * (int(high) - int(low)) >> 64))

    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> np.float64:
        """Give a number of a normal distribution."""
        _check("normal", mean, deviation)
        u, v = self._units()
        return np.float64(mean + deviation * (math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)))

    def standard_normal(self) -> np.float64:
        """Give a number of the normal distribution with mean 0 and deviation 1."""
        return self.normal()

    def exponential(self, scale: float = 1.0) -> np.float64:
        """Give a number of an exponential distribution, whose mean is `scale`."""
        _check("exponential", scale)
        return np.float64(-scale * math.log(1 - self._units()[0]))

    def standard_exponential(self) -> np.float64:
        """Give a number of the exponential distribution with mean 1."""
        return self.exponential()

    def __repr__(self) -> str:
        """Tell what it was made of, and how many draws there were."""
        stream, other = self._counter
        return f"<spmdvm.rng({self._key}, {stream}, {other}), after {self._draws} draws>"


def _check(who: str, *given: Any, of: tuple[type, ...] = (int, float, np.number), what: str = "numbers") -> None:
    """Refuse what is no number of these, before anything is drawn."""
    for value in given:
        if not isinstance(value[()] if isinstance(value, np.ndarray) else value, of):
            raise TypeError(f"rng.{who}() takes {what}, not {value!r}")


def make(body: Any, node: ast.Call) -> Value:
    """Translate `spmdvm.rng(seed, i)`: the four numbers."""
    given = dict(zip(("seed", "stream", "other"), node.args))
    for keyword in node.keywords:
        if keyword.arg in given or keyword.arg not in ("seed", "stream", "other"):
            body.fail(keyword.value, "`spmdvm.rng` takes a seed and up to two numbers of a stream", "here")
        given[keyword.arg] = keyword.value
    if "seed" not in given or len(node.args) > 3:
        help = "write `spmdvm.rng(seed, i)`, with the number of the element"
        body.fail(node, "`spmdvm.rng` takes a seed and up to two numbers of a stream", f"{len(node.args)} here", help)
    parts = []
    for name, ty in zip(("seed", "stream", "other"), _PARTS):
        value = body.integer(given[name], f"`{name}`") if name in given else constant(0)
        ty = NUMBERS[ty]
        if value.const is not None:
            text = str(int(value.const) % 2**ty.bits)
            parts.append(Value(f"(({ty.spmd}){text}ull)", ty, True))
            continue
        wide = value.text if value.is_narrow else body.cast(value, value.type, node).text
        signed = f"(int64){wide}" if value.type.kind == "i" else wide
        parts.append(Value(f"(({ty.spmd})({signed}))", ty, value.uniform))
    return tuple_of([*parts, Value("((uint)0)", NUMBERS["uint32"], True)])


def draw(body: Any, node: ast.Call, name: str, parts: tuple[Value, ...]) -> Value:
    """Translate `rng.random()` and its like; the generator is a variable of a name."""
    how = node.func.attr
    if how not in METHODS:
        help = "there are " + ", ".join(f"`{name}.{known}`" for known in METHODS.values())
        body.fail(node.func, f"generators in kernels have no `{how}()`", "not supported", help)
    if body.in_arm:
        help = f"draw before, in a statement: `x = {name}.{how}(…)`"
        body.fail(node, "a number is drawn in what may not be computed", "here", help)
    if node.keywords and how != "random":
        at = node.keywords[0]
        body.fail(
            at.value, "these numbers are given by position in a kernel", f"`{at.arg}=`", f"write `{METHODS[how]}`"
        )
    args = [*node.args, *(keyword.value for keyword in node.keywords)]
    least, most = {
        "uniform": (0, 2),
        "integers": (1, 2),
        "normal": (0, 2),
        "random": (0, 1),
        "exponential": (0, 1),
    }.get(how, (0, 0))
    if not least <= len(args) <= most:
        body.fail(node, f"`{how}` takes other numbers", f"{len(args)} here", f"write `{METHODS[how]}`")
    ty: Num = FLOAT64
    if how == "random" and args:
        ty = body.annotation(args[0])
        if ty.name not in ("float32", "float64", "float"):
            body.fail(args[0], "random numbers are `float64` or `float32`", f"`{ty}`", "convert: `np.float16(…)`")
        args = []
    given = [body.number(arg) for arg in args]
    words = _words(body, node, name, parts)
    uniform = all(part.uniform for part in parts)
    return body.keep(_made(body, node, how, ty, given, words, uniform))


def _words(body: Any, node: Any, name: str, parts: tuple[Value, ...]) -> list[str]:
    """Write the computation of the four words of a draw, and count it."""
    helper = body.program.use("random_words")
    shape = "uniform" if body.is_uniform_here() else "varying"
    words = [body.temporary("word") for _ in range(4)]
    body.emit(f"{shape} uint {', '.join(words)};")
    wide = [f"({shape} {part.type.spmd}){part.text}" for part in parts]
    body.emit(f"{helper}<{shape} uint, {shape} uint64>({', '.join([*wide, *words])});")
    count = parts[3]
    more = Value(f"({count.text} + (uint)1)", NUMBERS["uint32"], count.uniform)
    body.assign_name(node, f"{name}[3]", more)
    return words


def _long(words: list[str], at: int, shape: str) -> str:
    return f"((({shape} uint64){words[at + 1]} << 32) | ({shape} uint64){words[at]})"


def _made(body: Any, node: Any, how: str, ty: Num, given: list[Value], words: list[str], uniform: bool) -> Value:
    uniform = body.is_uniform_here()
    shape = "uniform" if uniform else "varying"
    if how == "random" and ty.name == "float32":
        return Value(f"(({shape} float)(int)({words[0]} >> 8) * 5.960464477539063e-08f)", ty, uniform)
    if how == "integers":
        return _integer(body, node, given, _long(words, 0, shape), shape, uniform)
    u, v = (
        Value(f"(({shape} double)(int64)({_long(words, at, shape)} >> 11) * 1.1102230246251565e-16d)", FLOAT64, uniform)
        for at in (0, 2)
    )
    number = [body.cast(value, FLOAT64, node) for value in given]
    if how == "random":
        return u
    if how == "uniform":
        low, high = [*number, *(constant(0.0), constant(1.0))[len(number) :]]
        low, high = body.cast(low, FLOAT64, node), body.cast(high, FLOAT64, node)
        return Value(f"({low.text} + ({high.text} - {low.text}) * {u.text})", FLOAT64, uniform)
    log = f"log(({shape} double)(1.0d - {u.text}))"
    if how in ("exponential", "standard_exponential"):
        scale = f"{number[0].text} * " if number else ""
        return Value(f"(-({scale}{log}))", FLOAT64, uniform)
    text = f"(sqrt(-2.0d * {log}) * cos(({shape} double)({2 * math.pi!r}d * {v.text})))"
    if len(number) > 1:
        text = f"({number[1].text} * {text})"
    return Value(f"({number[0].text} + {text})" if number else text, FLOAT64, uniform)


def _integer(body: Any, node: Any, given: list[Value], word: str, shape: str, uniform: bool) -> Value:
    for value, arg in zip(given, node.args):
        if not value.type.is_int:
            body.fail(arg, "`integers` takes integers", f"this is `{value.type}`", "write `int(…)`")
    ty = NUMBERS["int64"]
    low, high = (constant(0), given[0]) if len(given) == 1 else given
    low, high = body.keep(body.cast(low, ty, node)), body.keep(body.cast(high, ty, node))
    body.demand(node, f"{low.text} < {high.text}", "`integers` takes a number less than the second one")
    size, bits, mid = body.temporary("size"), body.temporary("bits"), body.temporary("mid")
    long = f"{shape} uint64"
    body.emit(f"const {long} {size} = ({long})({high.text} - {low.text});")
    body.emit(f"const {long} {bits} = {word};")
    # The upper 64 of the 128 bits of their product.
    body.emit(
        f"const {long} {mid} = ({bits} >> 32) * ({size} & 0xFFFFFFFFull) + "
        f"((({bits} & 0xFFFFFFFFull) * ({size} & 0xFFFFFFFFull)) >> 32);"
    )
    upper = (
        f"({bits} >> 32) * ({size} >> 32) + ({mid} >> 32) + "
        f"((({bits} & 0xFFFFFFFFull) * ({size} >> 32) + ({mid} & 0xFFFFFFFFull)) >> 32)"
    )
    return replace(Value(f"({low.text} + (int64)({upper}))", ty, uniform), type=ty)
