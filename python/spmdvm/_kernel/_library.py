"""Functions of `math` and numpy that are written here, in Python, and translated as functions of a kernel are.

What kernels do in an instruction or by a function of the SPMD library stands in `_functions`. Names from outside are
those of this module. Lines of this file are told to nobody: errors and traps are where the functions are called.
Their documentation is that of the functions for which they stand.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

# `spmdvm.foreach`, which is put here when it is made.
foreach: Any = None

# What `kind` is of sorts.
SORTS = ("quicksort", "heapsort", "mergesort", "stable", None)

_WRITTEN: dict[int, tuple[Any, Any]] = {}


def find(function: Any) -> Any:
    """Give the function of this module that stands for one of `math` or numpy; None if there is none."""
    entry = _WRITTEN.get(id(function))
    return None if entry is None else entry[1]


def is_written(function: Any) -> bool:
    """Return whether a function is one of this module that stands for another one."""
    return any(entry[1] is function for entry in _WRITTEN.values())


def is_own(file: str) -> bool:
    """Return whether a file is one of those in which such functions are written."""
    return os.path.dirname(file) == os.path.dirname(__file__)


class Choice(NamedTuple):
    """An argument, by its name and its place, whose constant says which function is meant, such as `side="right"`."""

    name: str
    place: int
    functions: dict[Any, Any]


def choice_of(function: Any) -> Choice | None:
    """Give the argument that chooses among functions of this module of which one is given; None if none does."""
    return _CHOICES.get(function)


def known() -> list[Any]:
    """Give the functions for which one stands here."""
    return [entry[0] for entry in _WRITTEN.values()]


def _is(*functions: Any) -> Any:
    def note(written: Any) -> Any:
        for function in functions:
            if function is not None:
                _WRITTEN[id(function)] = (function, written)
        return written

    return note


@_is(math.isclose)
def isclose(a, b, rel_tol=1e-09, abs_tol=0.0):
    if a == b:
        return True
    far = abs(b - a)
    near = far <= abs(rel_tol * b) or far <= abs(rel_tol * a) or far <= abs_tol
    return near and not (math.isinf(a) or math.isinf(b))


@_is(np.isclose)
def np_isclose(a, b, rtol=1e-05, atol=1e-08):
    return (abs(a - b) <= atol + rtol * abs(b) and np.isfinite(b)) or a == b


@_is(math.gcd, np.gcd)
def gcd(a, b):
    x, y = abs(a), abs(b)
    while y != 0:
        x, y = y, x % y
    return x


@_is(getattr(math, "lcm", None), np.lcm)
def lcm(a, b):
    if a == 0 or b == 0:
        return a - a
    return abs(a // gcd(a, b) * b)


@_is(math.isqrt)
def isqrt(n):
    assert n >= 0
    root = int(math.sqrt(n))
    # A number of 64 bits may have been rounded up or down.
    while root > 3037000499 or root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@_is(math.factorial)
def factorial(n):
    # That of 21 has more than 64 bits.
    assert 0 <= n <= 20
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


@_is(getattr(math, "comb", None))
def comb(of, chosen):
    n, k = int(of), int(chosen)
    assert n >= 0
    assert k >= 0
    many = 1 if k <= n else 0
    for i in range(1, min(k, n - k) + 1):
        # What is shared is divided first, so that nothing has more than 64 bits before the result has.
        shared = gcd(many, i)
        factor = (n - i + 1) // (i // shared)
        many = many // shared
        fits_in_64_bits = many <= 9223372036854775807 // factor
        assert fits_in_64_bits
        many *= factor
    return many


@_is(getattr(math, "perm", None))
def perm(of, chosen=-1):
    n, k = int(of), int(chosen)
    count = n if k == -1 else k
    assert n >= 0
    assert count >= 0
    many = 1 if count <= n else 0
    for i in range(min(count, n)):
        fits_in_64_bits = many <= 9223372036854775807 // (n - i)
        assert fits_in_64_bits
        many *= n - i
    return many if count <= n else 0


# Stirling's series, whose next term is below half a unit in the last place from there on.
_LARGE = 12


def _stirling(x):
    y = 1 / (x * x)
    inner = 1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * (691 / 360360 - y / 156)))
    return (1 / 12 - y * (1 / 360 - y * inner)) / x


def _gamma_from_half(x, low):
    # The gamma function of x + low, of which low is what x was rounded by.
    if x == np.floor(x) and x < 24 and low == 0:
        product = 1.0 * x / x
        for k in range(2, int(x)):
            product *= k
        return product
    # Products go to where the series is exact enough.
    product, steps = 1.0 * x / x, 0
    while x + steps < _LARGE:
        product *= x + steps
        steps += 1
    large = x + steps
    # The function's logarithm grows by about the logarithm.
    low += (x - (large - steps)) * 1.0
    # In two halves: their product may be in range where one power is not.
    half = large ** (0.5 * large - 0.25)
    rest = math.exp(-large) * math.sqrt(2 * math.pi) * math.exp(_stirling(large))
    return half * rest * half / product * (1 + low * (math.log(large) - 0.5 / large))


def _gamma_reflected(x):
    turn, other = x - np.rint(x), 1 - x
    low = (1 - other) - x
    sine = math.sin(math.pi * turn)
    return math.pi / ((sine if np.rint(x) % 2 == 0 else -sine) * _gamma_from_half(other, low))


@_is(math.gamma)
def gamma(x):
    if x != x or x == math.inf:
        return x * 1.0
    if x == 0:
        return math.copysign(math.inf, x)
    if x >= 0.5:
        return math.inf * x if x > 180 else _gamma_from_half(x, 0.0)
    if x == np.floor(x):
        return math.nan * x
    if x >= -150:
        return _gamma_reflected(x)
    if x < -200:
        return 0.0 * x if np.floor(x) % 2 == 1 else -0.0 * x
    # By steps, so that results that are too small for normal numbers are rounded last.
    result = _gamma_reflected(x + 60)
    for k in range(59, -1, -1):
        result /= x + k
    return result


@_is(math.lgamma)
def lgamma(x):
    if x != x or math.isinf(x):
        return abs(x) * 1.0
    if x <= 0 and x == np.floor(x):
        return math.inf - x * 0
    if x >= _LARGE:
        return (x - 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi) + _stirling(x)
    if x >= 0.5:
        return math.log(_gamma_from_half(x, 0.0))
    turn = x - np.rint(x)
    other = 1 - x
    if other < _LARGE:
        return math.log(abs(_gamma_reflected(x)))
    there = (other - 0.5) * math.log(other) - other + 0.5 * math.log(2 * math.pi) + _stirling(other)
    return math.log(math.pi / abs(math.sin(math.pi * turn))) - there


@_is(np.spacing)
def spacing(x):
    return np.nextafter(x, x if x != x else math.inf if x >= 0 else -math.inf) - x


@_is(getattr(math, "ulp", None))
def ulp(x):
    size = abs(x) * 1.0
    if not math.isfinite(size):
        return size
    after = np.nextafter(size, math.inf)
    # The largest is as far from the one before.
    return size - np.nextafter(size, 0.0) if math.isinf(after) else after - size


@_is(getattr(math, "dist", None))
def dist(p, q):
    assert len(p) == len(q), "both arrays have as many elements"
    total = 0.0
    for k in range(len(p)):
        # (Differences of small integers would wrap.)
        total = math.hypot(total, 1.0 * p[k] - q[k])
    return total


@_is(getattr(math, "prod", None))
def prod_of_some(values):
    product = 1
    for x in values:
        product *= x
    return product


@_is(getattr(math, "sumprod", None))
def sumprod(p, q):
    assert len(p) == len(q), "both arrays have as many elements"
    total = 0
    for k in range(len(p)):
        total += p[k] * q[k]
    return total


@_is(math.remainder)
def remainder(x, y):
    if math.isinf(y) and math.isfinite(x):
        return x * 1.0
    size, by = abs(x), abs(y)
    low = math.fmod(size, by)
    high = by - low
    if low < high:
        rest = low
    elif low > high:
        rest = -high
    else:
        rest = low - 2 * math.fmod(0.5 * (size - low), by)
    return math.copysign(1.0, x) * rest


@_is(math.modf, np.modf)
def modf(x):
    whole = np.trunc(x)
    rest = 0.0 * np.sign(x) if math.isinf(x) else x - whole
    return math.copysign(rest, x), whole * 1.0


@_is(math.frexp, np.frexp)
def frexp(x):
    if x == 0 or not math.isfinite(x):
        return x * 1.0, np.int32(0)
    # Near enough to be one of three.
    power = np.int32(np.floor(np.log2(abs(x)))) + 1
    part = math.ldexp(x * 1.0, -power)
    if abs(part) >= 1:
        power += 1
    if abs(part) < 0.5:
        power -= 1
    return math.ldexp(x * 1.0, -power), power


@_is(np.fmax)
def fmax(a, b):
    # `np.where` has a type for a bool and a number.
    return np.where(a >= b or b != b, a, b)


@_is(np.fmin)
def fmin(a, b):
    return np.where(a <= b or b != b, a, b)


@_is(np.heaviside)
def heaviside(x, half):
    return x * half if x != x else half if x == 0 else 0.0 if x < 0 else 1.0


@_is(np.logaddexp)
def logaddexp(a, b):
    if a == b:
        return a + math.log(2)
    apart = a - b
    return a + np.log1p(np.exp(-apart)) if apart > 0 else b + np.log1p(np.exp(apart))


@_is(np.logaddexp2)
def logaddexp2(a, b):
    if a == b:
        return a + 1.0
    apart = a - b
    unit = 1 / math.log(2)
    return a + unit * np.log1p(np.exp2(-apart)) if apart > 0 else b + unit * np.log1p(np.exp2(apart))


@_is(np.sinc)
def sinc(x):
    y = np.pi * x
    return 1.0 if y == 0 else math.sin(y) / y


@_is(np.isposinf)
def isposinf(x):
    return x == math.inf


@_is(np.isneginf)
def isneginf(x):
    return x == -math.inf


@_is(np.signbit)
def signbit(x):
    return math.copysign(1.0, x) < 0


# Functions of arrays.


def makes_array(function: Any) -> bool:
    """Return whether a function that is written here gives an array."""
    return id(function) in _ARRAYS


def takes_numbers(function: Any) -> bool:
    """Return whether a function that is written here gives a number for numbers, such as `math.gcd`."""
    return id(function) in _WRITTEN and not makes_array(function) and not takes_array(function)


def takes_integers(function: Any) -> bool:
    """Return whether a function of `math` or numpy takes integers alone, such as `math.gcd`."""
    return find(function) in _OF_INTEGERS


def takes_doubles(function: Any) -> bool:
    """Return whether one of `math` makes doubles of what it is given, such as `math.gamma`."""
    return any(function is known for known in _OF_DOUBLES)


def takes_floats(function: Any) -> bool:
    """Return whether one of numpy makes floats of what it is given, of the type that its arguments have in common."""
    return any(function is known for known in _OF_FLOATS)


def is_typed(function: Any) -> bool:
    """Return whether a function that is written here takes numbers of some types, or converts them to such."""
    return takes_integers(function) or takes_doubles(function) or takes_floats(function)


def takes_complex(function: Any) -> bool:
    """Return whether a function that is written here means for complex numbers what it means in numpy."""
    return function in _OF_COMPLEX


def takes_array(function: Any) -> bool:
    """Return whether a function that is written here gives a number that depends on an array."""
    return id(function) in _OF_ARRAYS


_ARRAYS: set[int] = set()
_OF_ARRAYS: set[int] = set()


def array_for(function: Any) -> Any:
    """Have a function that is written stand for one that gives an array."""
    _ARRAYS.add(id(function))
    return _is(function)


def number_for(function: Any) -> Any:
    """Have a function that is written stand for one that gives a number of an array."""
    _OF_ARRAYS.add(id(function))
    return _is(function)


@array_for(np.diff)
def diff(a):
    return a[1:] - a[:-1]


def _merge(key, runs, out, width):
    # Two runs of elements in order become one, from one array to the other.
    n = len(runs)
    for left in range(0, n, 2 * width):
        middle, end = min(left + width, n), min(left + 2 * width, n)
        i, j = left, middle
        for k in range(left, end):
            takes_left = j >= end
            if i < middle and j < end:
                x, y = key(runs[i]), key(runs[j])
                # NaN is the greatest; of equals the left one comes first.
                takes_left = not (y < x or (x != x and y == y))
            if takes_left:
                out[k] = runs[i]
                i += 1
            else:
                out[k] = runs[j]
                j += 1


def _put_in_order(key, out, other):
    n = len(out)
    width, turns = 1, 0
    while width < n:
        if turns % 2 == 0:
            _merge(key, out, other, width)
        else:
            _merge(key, other, out, width)
        width *= 2
        turns += 1
    if turns % 2 == 1:
        for k in range(n):
            out[k] = other[k]


def sort_in_place(a, other):
    """Put the elements of an array in order, with another one that is as long."""
    _put_in_order(lambda x: x, a, other)


def sort_list(xs):
    """Put the numbers of a list in order."""
    other = [x for x in xs]
    _put_in_order(lambda x: x, xs, other)


def keep_distinct(a):
    """Move one of each of the elements, which are in order, to the beginning; give how many these are."""
    count = 0
    for x in a:
        # NaNs are one to numpy.
        if count == 0 or (a[count - 1] != x and (x == x or a[count - 1] == a[count - 1])):
            a[count] = x
            count += 1
    return count


@array_for(np.argsort)
def argsort(a):
    out = np.arange(len(a))
    other = np.empty_like(out)
    _put_in_order(lambda at: a[at], out, other)
    return out


@array_for(np.bincount)
def bincount(x, weights=None, minlength=0):
    n = int(minlength)
    for i in x:
        assert i >= 0, "`bincount` takes integers from 0 up"
        n = max(n, int(i) + 1)
    out = np.zeros(n, np.int64 if weights is None else np.float64)
    assert weights is None or len(weights) == len(x), "there is a weight for each element"
    for k in range(len(x)):
        out[x[k]] += 1 if weights is None else weights[k]
    return out


@array_for(np.partition)
def partition(a, kth):
    assert -len(a) <= kth < len(a), "`partition` takes the place of an element"
    return np.sort(a)


@array_for(np.argpartition)
def argpartition(a, kth):
    assert -len(a) <= kth < len(a), "`argpartition` takes the place of an element"
    return argsort(a)


@number_for(np.median)
def median(a):
    n = a.size
    in_order = np.sort(a.ravel())
    assert n > 0, "`median` takes at least one element"
    # NaN is the greatest.
    last = in_order[n - 1]
    return last / 1 if last != last else (in_order[(n - 1) // 2] + in_order[n // 2]) / 2


@number_for(np.searchsorted)
def searchsorted(a, v):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        # NaN is behind all others.
        if a[middle] < v or (v != v and a[middle] == a[middle]):
            low = middle + 1
        else:
            high = middle
    return low


def searchsorted_right(a, v):
    """Do the same, but give the place behind elements that are equal."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] <= v or v != v:
            low = middle + 1
        else:
            high = middle
    return low


@number_for(np.digitize)
def digitize(x, bins):
    order = order_of(bins)
    return searchsorted_right(bins, x) if order > 0 else len(bins) - searchsorted_right(bins[::-1], x)


def digitize_right(x, bins):
    """Do the same, of bins that have their right edges."""
    order = order_of(bins)
    return searchsorted(bins, x) if order > 0 else len(bins) - searchsorted(bins[::-1], x)


def order_of(bins):
    """Give whether numbers come one after another upwards, 1, or downwards, -1; they do one of the two."""
    rises = falls = True
    for k in range(len(bins) - 1):
        rises = rises and bins[k] <= bins[k + 1]
        falls = falls and bins[k] >= bins[k + 1]
    assert rises or falls, "bins must be monotonically increasing or decreasing"
    return 1 if rises else -1


def count_between(a, edges, counts, weights=None):
    """Count the elements between edges, or add their weights; the last bin has what is at both of its edges."""
    n = len(counts)
    for j in range(n):
        assert not edges[j] > edges[j + 1], "the edges of a histogram increase"
    if n > 0:
        last = edges[n]
        for i in foreach(len(a)):
            x = a[i]
            k = searchsorted_right(edges, x) - 1
            if k == n and (x == last or (x != x and last != last)):
                k = n - 1
            if 0 <= k < n:
                counts[k] += 1 if weights is None else weights[i]


def outer_edges(low, high):
    """Give where the first bin of a range begins, where the last one ends, and how far that is apart."""
    assert low <= high, "the range of a histogram goes from the least to the greatest"
    first = low - 0.5 if low == high else low
    last = high + 0.5 if low == high else high
    span = last - first if low == high else high - low
    assert 0 < span < np.inf, "the range of a histogram is finite"
    return first, last, span


def set_edges(edges, start, stop):
    """Set the edges of bins of one width."""
    n = len(edges) - 1
    step = (stop - start) / n
    for i in foreach(n):
        # (As a variable it is rounded before the sum.)
        apart = i * step
        edges[i] = apart + start
    edges[n] = stop
    for j in range(n):
        assert edges[j] < edges[j + 1], "the range of a histogram has room for so many bins"


def count_in_bins(a, low, high, first, last, span, edges, counts, weights=None):
    """Count the elements in bins of one width, or add their weights, from what numpy computes in the same steps."""
    n = len(counts)
    is_wide = low < high
    for i in foreach(len(a)):
        if low <= a[i] <= high if is_wide else first <= a[i] <= last:
            x = a[i].astype(edges.dtype)
            k = min(int((x - first) / span * n), n - 1)
            # Near an edge it may have been rounded to the other side.
            if x < edges[k]:
                k -= 1
            if k < n - 1 and x >= edges[k + 1]:
                k += 1
            counts[k] += 1 if weights is None else weights[i]


def set_densities(counts, edges, out):
    """Set counts, or sums of weights, for each unit between edges and for each that is counted."""
    total = np.sum(counts)
    for k in foreach(len(counts)):
        # (As a variable it is rounded in the type of edges.)
        apart = edges[k + 1] - edges[k]
        out[k] = counts[k] / np.float64(apart) / total


@number_for(np.interp)
def interp(x, xp, fp):
    n = len(xp)
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if xp[middle] <= x:
            low = middle + 1
        else:
            high = middle
    if x != x:
        return x * 1.0
    if low == 0:
        return fp[0] * 1.0
    if low == n or xp[low - 1] == x:
        return fp[low - 1] * 1.0
    slope = (fp[low] - fp[low - 1]) / (xp[low] - xp[low - 1])
    return slope * (x - xp[low - 1]) + fp[low - 1]


@number_for(np.ptp)
def ptp(a):
    return np.max(a) - np.min(a)


@number_for(np.average)
def average(a, *, weights=None):
    if weights is None:
        return np.mean(a)
    total = np.sum(weights)
    assert total != 0, "the sum of the weights is not zero"
    return np.sum(a * weights) / total


@number_for(np.polyval)
def polyval(p, x):
    y = x * 0
    for c in p:
        y = y * x + c
    return y


@number_for(np.percentile)
def percentile(a, q):
    return quantile(a, q / 100)


@number_for(np.quantile)
def quantile(a, q):
    if isinstance(q, (int, np.integer)):
        return end_in_order(np.sort(a.ravel()), q)
    return quantile_in_order(np.sort(a.ravel()), q)


def end_in_order(in_order, q):
    """Give the least or the greatest of elements that are in order: quantiles by integers are elements."""
    n = len(in_order)
    assert n > 0 and 0 <= q <= 1, "`quantile` takes at least one element, and a number from 0 to 1"
    last = in_order[n - 1]
    return last if q > 0 or last != last else in_order[0]


def quantile_in_order(in_order, q):
    """Give a quantile of elements that are in order, in the steps of numpy."""
    n = len(in_order)
    assert n > 0 and 0 <= q <= 1, "`quantile` takes at least one element, and a number from 0 to 1"
    at = q * 1.0 * (n - 1)
    low = int(at)
    part = at - low
    x, y, last = in_order[low], in_order[min(low + 1, n - 1)], in_order[n - 1]
    # As numpy rounds it. A NaN, which is the last one, is all there is.
    between = x + (y - x) * part if part < 0.5 else y - (y - x) * (1 - part)
    return last + (y - x) * part if last != last else between


@number_for(np.nansum)
def nansum(a):
    return np.sum(np.where(np.isnan(a), 0, a))


@number_for(np.nanmean)
def nanmean(a):
    # (As an int of Python's, it leaves the type to the sum.)
    return nansum(a) / int(np.sum(~np.isnan(a)))


@number_for(np.nanvar)
def nanvar(a, ddof=0):
    count = int(np.sum(~np.isnan(a)))
    mean = nansum(a) / count
    total = np.sum(np.where(np.isnan(a), 0, (a - mean) ** 2))
    return total / (count - ddof) if count > ddof else mean * np.nan


@number_for(np.nanstd)
def nanstd(a, ddof=0):
    return np.sqrt(nanvar(a, ddof))


@number_for(np.nanmin)
def nanmin(a):
    least = np.min(a)
    if least != least:
        for x in a.ravel():
            if x < least or least != least:
                least = x
    return least


@number_for(np.nanmax)
def nanmax(a):
    most = np.max(a)
    if most != most:
        for x in a.ravel():
            if x > most or most != most:
                most = x
    return most


@number_for(np.nanprod)
def nanprod(a):
    return np.prod(np.where(np.isnan(a), 1, a))


@number_for(np.nanmedian)
def nanmedian(a):
    assert a.size > 0, "`nanmedian` takes at least one element"
    # NaN is the greatest.
    in_order = np.sort(a.ravel())
    n = int(np.sum(~np.isnan(in_order)))
    return in_order[0] / 1 if n == 0 else (in_order[(n - 1) // 2] + in_order[n // 2]) / 2


@number_for(np.array_equal)
def array_equal(a, b):
    if a.shape != b.shape:
        return False
    return np.all(a == b)


@number_for(np.allclose)
def allclose(a, b):
    return np.all(np.isclose(a, b))


@number_for(np.trapezoid if hasattr(np, "trapezoid") else np.trapz)
def trapezoid(y, x):
    total = 0.0
    for k in range(1, len(y)):
        total += (x[k] - x[k - 1]) * (y[k] + y[k - 1]) / 2.0
    return total


@array_for(np.take)
def take(a, indices):
    n = len(a)
    out = np.empty(len(indices), a.dtype)
    for i in foreach(len(indices)):
        k = indices[i]
        out[i] = a[k + n if k < 0 else k]
    return out


@array_for(np.triu)
def triu(m, k=0):
    out = np.zeros_like(m)
    for i, j in foreach(m.shape[0], m.shape[1]):
        if j - i >= k:
            out[i, j] = m[i, j]
    return out


@array_for(np.tril)
def tril(m, k=0):
    out = np.zeros_like(m)
    for i, j in foreach(m.shape[0], m.shape[1]):
        if j - i <= k:
            out[i, j] = m[i, j]
    return out


@array_for(np.convolve)
def convolve(a, v):
    n, m = len(a), len(v)
    assert n > 0 and m > 0, "`convolve` takes at least one element of each array"
    out = (np.sum(a[:0]) + np.sum(v[:0])) * np.ones(n + m - 1)
    for k in foreach(n + m - 1):
        total = a[0] * v[0] * 0
        for j in range(m):
            if 0 <= k - j < n:
                total += a[k - j] * v[j]
        out[k] = total
    return out


def of_dimensions(function: Any, dims: tuple[int, ...]) -> Any:
    """Give the function that is meant for arrays of so many dimensions: another one of this kind, or the same."""
    return _BY_DIMENSIONS.get(function, {}).get(dims, function)


def dimensions_of(function: Any) -> int | None:
    """Give of how many dimensions arrays are for which a function means what numpy's does; None if of any."""
    return _DIMENSIONS.get(function)


def arrays_of(function: Any) -> tuple[str, ...]:
    """Give the parameters of a function that are arrays, where something else would be told as another mistake."""
    return _GIVEN_ARRAYS.get(function, ())


def note(
    of_complex: Iterable[Any] = (),
    choices: Mapping[Any, Choice] = {},
    dimensions: Mapping[Any, int] = {},
    by_dimensions: Mapping[Any, Mapping[tuple[int, ...], Any]] = {},
    arrays: Mapping[Any, tuple[str, ...]] = {},
) -> None:
    """Note what is known of functions: which take complex numbers, which are chosen, and by how many dimensions."""
    _GIVEN_ARRAYS.update(arrays)
    _OF_COMPLEX.update(of_complex)
    _CHOICES.update(choices)
    _DIMENSIONS.update(dimensions)
    _BY_DIMENSIONS.update(by_dimensions)


_OF_INTEGERS = {gcd, lcm, isqrt, factorial, comb, perm}
_OF_DOUBLES = [
    math.isclose, math.gamma, math.lgamma, getattr(math, "ulp", None), math.remainder, math.modf, math.frexp,
]  # fmt: skip
_OF_FLOATS = [np.logaddexp, np.logaddexp2, np.modf, np.frexp, np.spacing, np.heaviside]
_OF_COMPLEX: set[Any] = set()
_CHOICES: dict[Any, Choice] = {}
_DIMENSIONS: dict[Any, int] = {}
_GIVEN_ARRAYS: dict[Any, tuple[str, ...]] = {}
_BY_DIMENSIONS: dict[Any, Mapping[tuple[int, ...], Any]] = {}
note(
    (np_isclose, prod_of_some, sumprod, diff, polyval, array_equal, allclose, trapezoid, take, triu,
     tril, convolve, nanprod),
    {
        searchsorted: Choice("side", 2, {"left": searchsorted, "right": searchsorted_right}),
        digitize: Choice("right", 2, {False: digitize, True: digitize_right}),
        # All sorts keep equal elements in order.
        argsort: Choice("kind", 2, dict.fromkeys(SORTS, argsort)),
    },
    {diff: 1, polyval: 1, partition: 1, argpartition: 1, argsort: 1, bincount: 1},
)  # fmt: skip
