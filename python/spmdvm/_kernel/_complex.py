"""Complex numbers: structs of two floats in SPMD text, whose operators mean what numpy's do.

The text of a program in which they occur begins with these structs and functions, once for each precision, and once for
numbers that are the same in all lanes.
"""

from __future__ import annotations

import re
from typing import Any

from ._types import COMPLEX, FLOAT64, INT64, Num, promote
from ._values import Value, constant, tuple_of

# `C` is the struct, `T` a part, `S` nothing or `uniform`; `OF` makes a number. Quotients are numpy's, by Smith's
# method, roots too (algorithm 312 of the Communications of the ACM). BIG and HUGE are where results come near to the
# largest floats, and between LEAST and MOST squares are exact enough. For logarithms of what is near to the unit circle
# what products were rounded by counts; the products are written so that nothing fuses them with a sum.
_FUNCTIONS = """
static inline S C OF(S T re, S T im) { S C r; r.re = re; r.im = im; return r; }
static inline S C operator+(S C a, S C b) { return OF(a.re + b.re, a.im + b.im); }
static inline S C operator+(S C a, S T b) { return OF(a.re + b, a.im); }
static inline S C operator+(S T a, S C b) { return OF(a + b.re, b.im); }
static inline S C operator-(S C a, S C b) { return OF(a.re - b.re, a.im - b.im); }
static inline S C operator-(S C a, S T b) { return OF(a.re - b, a.im); }
static inline S C operator-(S T a, S C b) { return OF(a - b.re, -b.im); }
static inline S C operator-(S C a) { return OF(-a.re, -a.im); }
static inline S C operator*(S C a, S C b) { return OF(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
static inline S C operator*(S C a, S T b) { return OF(a.re * b, a.im * b); }
static inline S C operator*(S T a, S C b) { return OF(a * b.re, a * b.im); }
static inline S C operator/(S C a, S T b) { S T by = (S T)1 / (b == 0 ? abs(b) : b); return OF(a.re * by, a.im * by); }
static inline S C operator/(S C a, S C b) {
    S bool turned = abs(b.re) < abs(b.im);
    S T most = turned ? b.im : b.re, least = turned ? b.re : b.im;
    S bool none = most == 0;
    S T ratio = none ? (S T)0 : least / most;
    S T by = (S T)1 / (none ? (S T)0 : most + least * ratio);
    S T re = none ? a.re : turned ? a.re * ratio + a.im : a.re + a.im * ratio;
    S T im = none ? a.im : turned ? a.im * ratio - a.re : a.im - a.re * ratio;
    return OF(re * by, im * by);
}
static inline S C operator/(S T a, S C b) { return OF(a, (S T)0) / b; }
static inline S bool operator==(S C a, S C b) { return a.re == b.re && a.im == b.im; }
static inline S bool operator!=(S C a, S C b) { return a.re != b.re || a.im != b.im; }
static inline S bool py_ctrue(S C a) { return a.re != 0 || a.im != 0; }
static inline S C py_conj(S C a) { return OF(a.re, -a.im); }
static inline S T py_cabs(S C a) {
    S T square = a.re * a.re + a.im * a.im, size = sqrt(square);
    if (!(square > LEAST && square < MOST)) size = hypot(a.re, a.im);
    return size;
}
static inline S T py_angle(S C a) { return atan2(a.im, a.re); }
static inline S bool py_cisnan(S C a) { return isnan(a.re) || isnan(a.im); }
static inline S bool py_cisinf(S C a) { return isinf(a.re) || isinf(a.im); }
static inline S bool py_cisfinite(S C a) { return isfinite(a.re) && isfinite(a.im); }
static inline S C py_crect(S T r, S T phi) { return OF(r * cos(phi), r * sin(phi)); }
static inline S C py_cexp(S C a) {
    S bool far = a.re > (S T)BIG;
    S T size = exp(far ? a.re - (S T)BIG : a.re), more = far ? exp((S T)BIG) : (S T)1;
    return OF(size * cos(a.im) * more, a.im == 0 ? a.im : size * sin(a.im) * more);
}
static inline S C py_csqrt(S C a) {
    S bool far = abs(a.re) >= (S T)HUGE || abs(a.im) >= (S T)HUGE;
    S T x = far ? a.re * (S T)0.25f : a.re, y = far ? a.im * (S T)0.25f : a.im;
    S T root = sqrt((abs(x) + hypot(x, y)) * (S T)0.5f), other = abs(y) / (root + root);
    S T back = far ? (S T)2 : (S T)1;
    S T re = (x >= 0 ? root : other) * back, im = (x >= 0 ? other : root) * back;
    re = x == 0 && y == 0 ? (S T)0 : isinf(y) ? abs(y) : re;
    im = y == 0 && x >= 0 ? y : isinf(y) ? y : copysign(im, y);
    return OF(re, im);
}
static inline S C py_clog(S C a) {
    S T x = abs(a.re), y = abs(a.im);
    S T most = x < y ? y : x, least = x < y ? x : y;
    S T square = fma(most, most, (S T)0), rest = fma(least, least, (S T)0);
    S T less = square - (S T)1, one = less - square;
    S T lost = (square - (less - one)) + ((S T)-1 - one);
    S T apart = (less + rest) + (lost + (fma(most, most, -square) + fma(least, least, -rest)));
    S T ratio = most == 0 || isinf(most) ? (S T)0 : least / most;
    S bool near = square >= (S T)0.25f && square <= (S T)3;
    S T size = near ? log1p(apart) : log1p(ratio * ratio);
    return OF((near ? (S T)0 : log(most)) + size * (S T)0.5f, atan2(a.im, a.re));
}
static inline S C py_cpow_real(S C a, S T b) { return py_crect(pow(py_cabs(a), b), b * py_angle(a)); }
static inline S C py_cpow_complex(S C a, S C b) {
    S C base = py_clog(a);
    S T re = b.re * base.re - b.im * base.im, im = b.re * base.im + b.im * base.re;
    S C result = py_cexp(OF(re, im));
    S bool zero = a.re == 0 && a.im == 0, none = b.re == 0 && b.im == 0;
    S T least = zero ? (b.re > 0 ? (S T)0 : (S T)0 / (S T)0) : result.re;
    return OF(none ? (S T)1 : least, none ? (S T)0 : zero ? least : result.im);
}
"""
# Powers of integers, which may be the same in all lanes where the base is not.
_POWER = """
static inline S C py_cpow(S C a, N int64 n) {
    S C power = a, result = OF((S T)1, (S T)0);
    N uint64 rest = n < 0 ? -(N uint64)n : (N uint64)n;
    while (rest != 0) {
        if ((rest & 1) != 0) result = result * power;
        rest = rest >> 1;
        if (rest != 0) power = power * power;
    }
    if (n < 0) result = (S T)1 / result;
    return result;
}
"""
_OF_LANES = """
static inline uniform C py_creduce_add(C a) { return OF(reduce_add(a.re), reduce_add(a.im)); }
static inline uniform C py_cextract(C a, uniform int lane) { return OF(extract(a.re, lane), extract(a.im, lane)); }
static inline uniform C py_creduce_mul(C a) {
    for (uniform int step = programCount / 2; step > 0; step /= 2) {
        C b; b.re = rotate(a.re, step); b.im = rotate(a.im, step); a = a * b;
    }
    return OF(extract(a.re, 0), extract(a.im, 0));
}
"""
_CONVERTED = "static inline S C OF(S OTHER a) { return OF((S T)a.re, (S T)a.im); }\n"
_KINDS = {
    "Complex64": {
        "T": "float",
        "OF": "py_complex64",
        "BIG": "80.0f",
        "HUGE": "1.4e38f",
        "OTHER": "Complex128",
        "LEAST": "1e-28f",
        "MOST": "1e38f",
    },
    "Complex128": {
        "T": "double",
        "OF": "py_complex128",
        "BIG": "700.0d",
        "HUGE": "7.4e307d",
        "OTHER": "Complex64",
        "LEAST": "1e-290d",
        "MOST": "1e300d",
    },
}


def occur(lines: list[str]) -> list[str]:
    """Give the structs of complex numbers that occur in the lines of a program."""
    return [name for name, words in _KINDS.items() if any(name in line or words["OF"] in line for line in lines)]


def prelude(lines: list[str]) -> str:
    """Give what a program begins with, for the complex numbers that occur in its lines."""
    # (The loop over elements has operators of its own.)
    used, text = occur(lines), "\n".join(line for line in lines if not re.search("(end|gangs)__", line))
    found = [f"struct {name} {{ {_KINDS[name]['T']} re; {_KINDS[name]['T']} im; }};" for name in used]
    needed = _needed(text)
    for name in used:
        for shape in ("uniform ", ""):
            found.extend(_of_kind(name, shape, part.replace("N ", shape)) for part in needed)
        if any("py_cpow(" in part for part in needed):
            found.append(_of_kind(name, "", _POWER.replace("N ", "uniform ")))
    if len(used) == 2:
        # These need the numbers of both.
        found.extend(_of_kind(name, shape, _CONVERTED) for name in used for shape in ("uniform ", ""))
    lanes = [part for part in _functions(_OF_LANES) if _name_of(part) in text]
    found.extend(_of_kind(name, "", part) for name in used for part in lanes)
    return "\n".join(found)


def _functions(text: str) -> list[str]:
    """Give the functions in a text, one by one."""
    return [f"static{part.rstrip()}" for part in text.split("\nstatic")[1:]]


def _name_of(function: str) -> str:
    found = re.search(r"(py_\w+|operator\S+?|OF)\(", function)
    assert found is not None
    return found[1]


def _needed(text: str) -> list[str]:
    """Give the functions that a program calls, and that these call, in their order: each stands behind those."""
    kept: list[str] = []
    for function in reversed(_functions(_FUNCTIONS + _POWER)):
        name = _name_of(function)
        if name.startswith("operator"):
            sign = name[8:]
            is_needed = f" {sign} " in text or (sign == "-" and re.search(r"\(-[\w(]", text) is not None)
            is_needed |= sign in "*/" and "py_cpow(" in text
        else:
            is_needed = name == "OF" or any(f"{name}(" in part for part in (text, *kept))
        if is_needed:
            # Its own name is in its head.
            kept.append(function)
    return kept[::-1]


def _of_kind(name: str, shape: str, text: str) -> str:
    words = {**_KINDS[name], "C": name}
    text = re.sub(r"\bS ", shape, text.strip("\n"))
    return re.sub(r"\b[A-Z]+\b", lambda found: words.get(found[0], found[0]), text)


# Operators.


def part_of(body: Any, value: Value, which: str) -> Value:
    """Give the real or the imaginary part of a number."""
    if value.type.kind != "c":
        return value if which == "real" else body.cast(constant(0), value.type, None)
    if value.const is not None:
        return constant(getattr(value.const, which))
    return Value(f"{value.text}.{'re' if which == 'real' else 'im'}", value.type.part, value.uniform)


def operate(body: Any, node: Any, op: str, a: Value, b: Value) -> Value:
    """Apply an operator to two numbers, of which one is complex."""
    ty = promote(a.type, b.type)
    if op == "**":
        return _power(body, node, a, b)
    if op not in ("+", "-", "*", "/"):
        help = "round the parts: `np.floor(z.real)`" if op in ("//", "%") else None
        body.fail(node, f"complex numbers have no `{op}`", f"`{ty}`", help)
    x, y = (body.cast(v, ty if v.type.kind == "c" else ty.part, node) for v in (a, b))
    return Value(f"({x.text} {op} {y.text})", ty, a.uniform and b.uniform)


def _power(body: Any, node: Any, a: Value, b: Value) -> Value:
    ty, uniform = promote(a.type, b.type), a.uniform and b.uniform
    n, x = b.const, body.cast(a, ty, node)
    if b.type.kind == "c":
        return Value(f"py_cpow_complex({x.text}, {body.cast(b, ty, node).text})", ty, uniform)
    if n == 0.5:
        return Value(f"py_csqrt({x.text})", ty, uniform)
    if b.type.kind == "f" and (n is None or not float(n).is_integer()):
        return Value(f"py_cpow_real({x.text}, {body.cast(b, ty.part, node).text})", ty, uniform)
    if n is None:
        power = body.cast(b, INT64, node)
        return Value(f"py_cpow({x.text}, {power.text})", ty, uniform)
    if 2 <= n <= 3:
        x = x if body.in_arm or x.text.isidentifier() else body.keep(x)
        return Value("(" + " * ".join([x.text] * int(n)) + ")", ty, uniform)
    return x if n == 1 else Value(f"py_cpow({x.text}, {int(n)}ll)", ty, uniform)


# Functions: what they give of a complex number, and how they are called.


def _of_one(helper: str, of: Any) -> Any:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        (z,) = args
        return Value(f"{helper}({body.cast(z, z.type, node).text})", of(z.type), z.uniform)

    return call


def _itself(ty: Num) -> Num:
    return ty


def _part(ty: Num) -> Num:
    return ty.part


conj, exp, log, sqrt = (_of_one(helper, _itself) for helper in ("py_conj", "py_cexp", "py_clog", "py_csqrt"))
magnitude, angle = (_of_one(helper, _part) for helper in ("py_cabs", "py_angle"))


def polar(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `cmath.polar`."""
    return tuple_of([magnitude(body, node, args), angle(body, node, args)])


def rect(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `cmath.rect`."""
    ty = promote(promote(args[0].type, args[1].type) or FLOAT64, COMPLEX)
    r, phi = (body.cast(arg, ty.part, node) for arg in args)
    return Value(f"py_crect({r.text}, {phi.text})", ty, r.uniform and phi.uniform)


def maker(ty: Num) -> str:
    """Give the function that makes a number of its parts."""
    return _KINDS[ty.spmd]["OF"]
