"""Arguments that are None or texts: branches that depend on them are decided when a kernel is compiled."""

import pickle
from typing import Literal, Optional, Union

import numpy as np
import pytest
import spmdvm
from spmdvm import foreach

rng = np.random.default_rng(8)
X, W = rng.random(12), rng.random(12)
M, N = rng.random((4, 3)), rng.random((5, 3))
METHOD, NOTHING, AVERAGES = "mean", None, ("mean", "average")


def weighted(x, w=None):
    if w is None:
        return np.sum(x) / len(x)
    total = norm = 0.0
    for i in range(len(x)):
        total += x[i] * w[i]
        norm += w[i]
    return total / norm


def scaled(x, factor, out=None):
    """Scale numbers, into an array if one is given."""
    if out is None:
        out = np.empty_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] * factor
    return out


def along(a, axis=None):
    return np.sum(a, axis=axis)


def along_one(a, axis=None):
    if axis is None:
        return np.mean(a)
    if axis == "rows":
        return np.mean(a, axis=1)
    return np.mean(a, axis=0)


def interpolated(x, xs, ys, method="linear", left=None, right=None):
    n = len(xs)
    left = ys[0] if left is None else left
    if right is None:
        right = ys[n - 1]
    if x < xs[0]:
        return left
    if x > xs[n - 1]:
        return right
    k = 0
    while k < n - 2 and xs[k + 1] < x:
        k += 1
    t = (x - xs[k]) / (xs[k + 1] - xs[k])
    if method == "linear":
        return ys[k] + t * (ys[k + 1] - ys[k])
    elif method == "nearest":
        return ys[k] if t < 0.5 else ys[k + 1]
    elif method in ("previous", "before"):
        return ys[k]
    else:
        raise ValueError(f"unknown method {method}, not {METHOD!r}")


def convolved(a, b, mode="full"):
    n, m = len(a), len(b)
    full = np.zeros(n + m - 1)
    for i in range(n):
        for j in range(m):
            full[i + j] += a[i] * b[j]
    if mode == "full":
        return full
    elif mode == "same":
        first = (m - 1) // 2
        return full[first : first + n]
    assert mode == "valid", "no such mode"
    return full[m - 1 : n]


def distances(x, y=None, metric="euclidean", p=3):
    if y is None:
        y = x
    out = np.zeros((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            total = 0.0
            for k in range(x.shape[1]):
                d = abs(x[i, k] - y[j, k])
                if metric == "euclidean":
                    total += d * d
                elif metric != "minkowski":
                    total += d
                else:
                    total += d**p
            out[i, j] = np.sqrt(total) if metric == "euclidean" else total
    return out


def with_flags(x, mask=None, weights=None, ddof=0):
    has_mask, some = mask is not None, 0.0
    has_weights = weights is not None
    n = 0.0
    for i in range(len(x)):
        if has_mask and not mask[i]:
            continue
        w = weights[i] if has_weights else 1.0
        n += w
        some += w * x[i]
    if has_mask or has_weights:
        return some / (n - ddof)
    return some / (len(x) - ddof)


def clipped(x, low=None, high=None):
    if low is None and high is None:
        return x
    if low is not None and x < low:
        return low
    if not (high is None or x <= high):
        return high
    return x


def counted(n, size=None, seed=None):
    size = size or n * 2
    seed = 7 if seed is None else seed
    steps = 0
    while (seed is None or steps < seed) and steps < size:
        steps += 1
    return size + steps


def within(x, tolerance=None, kind="above"):
    if tolerance is None:
        tolerance = 1e-3
    return x + tolerance if kind == "above" else x - tolerance


def calls(x, tolerance=None, kind="below"):
    return within(x) + within(x, tolerance) + within(x, kind=kind) + within(x, tolerance=None, kind="above")


def with_functions(x, w=None, kind="squares"):
    def power(i):
        return x[i] * x[i] if kind == "squares" else x[i]

    def one(i, scale=None):
        v = power(i)
        if w is not None:
            v *= w[i]
        if scale is None:
            return v
        return v * scale

    total = 0.0
    for i in range(len(x)):
        total += one(i) + one(i, 0.5) + one(i, scale=None)
    return total


def applied(x, f=None):
    return x if f is None else f(x)


def with_lambdas(x, offset=None):
    return applied(x) + applied(x, lambda v: v if offset is None else v + offset)


def named_before(x):
    last, first, gap = None, None, 0.0
    for i in range(len(x)):
        last = x[i]
        gap += last
    first, other = x[0], None
    gap, gap = other, gap
    return gap + first if other is None else gap


def deviation(x, ddof: Optional[int] = None, mean: "Optional[float]" = None) -> Optional[float]:
    if ddof is None:
        ddof = 1
    if mean is None:
        mean = np.mean(x)
    total = 0.0
    for v in x:
        total += (v - mean) ** 2
    return np.sqrt(total / (len(x) - ddof))


def of_outside(x, method=None):
    how = METHOD if method is None else method
    if how in AVERAGES and NOTHING is None:
        return np.mean(x)
    return np.median(x)


def bandwidth(x, rule="scott"):
    n = len(x)
    if rule == "scott":
        h = n**-0.2
    elif rule == "silverman":
        h = (n * 0.75) ** -0.2
    else:
        h = rule
    return h * np.std(x)


def of_any_case(x, mode: str = "FULL"):
    if mode.lower() == "full" or mode.startswith("f"):
        return x * 2
    return x


def in_part_of_a_condition(x, i, w=None):
    if x[i] > 0 and w is not None:
        return w[i]
    if w is None or w[i] > 0.5 or x[i] > 2:
        return 1.0
    return 0.0


def choices_in_a_foreach(x, w=None, out=None, mode="wrap"):
    if out is None:
        out = np.zeros(len(x))
    n = len(x)
    for i in foreach(n):
        j = (i + 1) % n if mode == "wrap" else min(i + 1, n - 1)
        weight = w[j] if w is not None else 1.0
        out[i] = x[j] * weight
    return out


def again(n, product=None):
    if product is None:
        return again(n, 1)
    if n <= 1:
        return product
    return again(n - 1, product * n)


PLACES = np.arange(5.0)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (weighted, [((X,), {}), ((X, W), {}), ((X, None), {}), ((X,), {"w": W})]),
        (scaled, [((X, 2.0), {}), ((X, 2.0, np.zeros(12)), {}), ((X, 3.0), {"out": np.zeros(12)})]),
        (along, [((M,), {}), ((M, None), {})]),
        (along_one, [((M,), {}), ((M, "rows"), {}), ((M, 0), {})]),
        (interpolated, [((v, PLACES, X[:5]), {}) for v in (-1.0, 0.3, 9.0)]),
        (interpolated, [((v, PLACES, X[:5], "nearest"), {"left": 0.0}) for v in (-1.0, 2.7, 9.0)]),
        (interpolated, [((v, PLACES, X[:5]), {"method": "before", "right": 0.5}) for v in (-1.0, 2.7, 9.0)]),
        (convolved, [((X, W[:4], mode), {}) for mode in ("full", "same", "valid")]),
        (distances, [((M,), {}), ((M, N), {}), ((M, N, "city"), {}), ((M,), {"metric": "minkowski"})]),
        (with_flags, [((X,), {}), ((X, X > 0.5), {}), ((X, X > 0.5, W), {}), ((X,), {"weights": W, "ddof": 1})]),
        (clipped, [((0.7,), {}), ((0.1, 0.2), {}), ((0.7, None, 0.5), {}), ((0.3, 0.2), {"high": 0.5})]),
        (counted, [((3,), {}), ((3, 4), {}), ((3, 0), {}), ((3, None, 2), {})]),
        (calls, [((1.5,), {}), ((1.5, 2.0), {}), ((1.5,), {"kind": "above"})]),
        (with_functions, [((X,), {}), ((X, W), {}), ((X, None, "numbers"), {})]),
        (with_lambdas, [((1.5,), {}), ((1.5, 2.0), {})]),
        (named_before, [((X,), {})]),
        (deviation, [((X,), {}), ((X, 0), {}), ((X,), {"mean": 0.5})]),
        (of_outside, [((X,), {}), ((X, "middle"), {}), ((X, "average"), {})]),
        (bandwidth, [((X,), {}), ((X, "silverman"), {}), ((X, 0.3), {})]),
        (of_any_case, [((2.0,), {}), ((2.0, "f"), {}), ((2.0, "g"), {})]),
        (in_part_of_a_condition, [((X, 1), {}), ((X, 2, W), {}), ((-X, 2, W), {})]),
        (again, [((5,), {}), ((5, 2), {})]),
    ],
)
def test_it_is_what_python_gives(function, calls):
    kernel = spmdvm.kernel(function)
    # Twice, as calls that were made before go another way.
    for args, kwargs in calls * 2:
        found, expected = kernel(*args, **kwargs), function(*args, **kwargs)
        assert np.shape(found) == np.shape(expected)
        assert np.allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("mode", ["wrap", "edge"])
@pytest.mark.parametrize("w", [None, W])
@pytest.mark.parametrize("is_given", [False, True])
def test_in_a_foreach(mode, w, is_given):
    order = np.roll(np.arange(12), -1) if mode == "wrap" else np.minimum(np.arange(12) + 1, 11)
    out = np.zeros(12) if is_given else None
    found = spmdvm.kernel(choices_in_a_foreach)(X, w, out, mode)
    assert (found == X[order] * (1 if w is None else W[order])).all()
    assert not is_given or (found is out)


def test_over_arrays():
    kernel = spmdvm.kernel(clipped)
    assert kernel.is_elementwise
    assert (kernel(X) == X).all()
    assert (kernel(X, 0.3, threads=2) == np.maximum(X, 0.3)).all()
    assert (kernel(X, high=W) == np.minimum(X, W)).all()
    out = np.zeros(12)
    assert kernel(X, None, 0.4, where=X > 0.2, out=out) is out
    assert (out == np.where(X > 0.2, np.minimum(X, 0.4), 0)).all()
    # With a loop of its own.
    both = spmdvm.kernel(lambda x, low=None, how="twice": (x if low is None else max(x, low), 2 * x))
    assert (both(X)[0] == X).all()
    assert (both(X, 0.5)[0] == np.maximum(X, 0.5)).all()
    divided = spmdvm.kernel(lambda x, low=None, d=1: (x // d, 1 if low is None else low))
    with pytest.raises(ZeroDivisionError) as caught:
        divided(5, None, np.array([1, 2, 3, 0]))
    assert caught.value.arguments == {"x": 5, "d": 0}


def test_each_is_an_instance():
    kernel = spmdvm.kernel(convolved)
    for mode in ("full", "same", "full"):
        kernel(X, W[:3], mode)
    kernel(X, W[:3])
    assert len(kernel._instances) == 2
    assert "first" not in kernel.spmd_source
    kernel(X, W[:3], "same")
    assert "first" in kernel.spmd_source
    kernel = spmdvm.kernel(weighted)
    assert kernel(X, None) == kernel(X)
    assert "w" not in kernel.spmd_source.split("{")[0].split()
    assert len(kernel._instances) == 1


def test_texts_without_end_are_not_all_kept():
    @spmdvm.kernel
    def named(x, name):
        return 1.0 if name == "a" else x

    @spmdvm.kernel
    def first(a, name):
        return 1.0 if name == "a" else a[0]

    for k in range(80):
        assert named(2.0, f"text {k}") == first(np.full(1, 2.0), f"text {k}") == 2
    assert len(named._instances) <= 64
    assert len(first._instances) <= 64
    assert named(2.0, "a") == first(X, "a") == 1


def test_annotations():
    @spmdvm.kernel
    def summed(
        x,
        a: "Optional[float]" = None,
        b: Union[int, None] = None,
        c: spmdvm.uniform[spmdvm.int32] = None,
        how: Literal["sum", "less"] = "sum",
    ) -> Optional[float]:
        for_all = 0.0
        if a is not None:
            for_all += a
        if b is not None:
            for_all += b
        if c is not None:
            for_all += c
        return x + for_all if how == "sum" else x - for_all

    assert summed(1.0) == 1
    assert summed(1.0, 2) == summed(1.0, b=2) == summed(1.0, c=2) == 3
    assert (summed(np.arange(3.0), c=3, how="less") == np.arange(3) - 3).all()

    @spmdvm.kernel
    def product(a: spmdvm.array[spmdvm.float64], w: spmdvm.array[spmdvm.float64] | None = None):
        return np.sum(a) if w is None else np.sum(a * w)

    assert np.isclose(product(X), X.sum())
    assert np.isclose(product(X, W), (X * W).sum())
    with pytest.raises(TypeError, match="`w` takes an array of float64"):
        product(X, W.astype(np.float32))

    @spmdvm.kernel
    def never(x: float, y: float = 1.0):
        return x if y is None else x * y

    with pytest.raises(TypeError, match="None"):
        never(2.0, None)


def test_what_is_neither_asked_nor_passed_on():
    @spmdvm.kernel
    def f(x, y):
        return x * y

    with pytest.raises(TypeError, match="`y` has no type of kernels: None; pass a number that stands for it"):
        f(2.0, None)
    with pytest.raises(TypeError, match="`y` has no type of kernels: 'a', a text"):
        f(2.0, "a")
    with pytest.raises(TypeError, match=r"np\.str_\('a'\)|'a'; pass str\(x\)"):
        spmdvm.kernel(of_any_case)(2.0, np.str_("a"))


def test_conditions_fail_where_those_of_python_do():
    @spmdvm.kernel
    def f(x, i, w=None):
        if x[i] > 0 and w is not None:
            return w[0]
        chosen = w[0] if (x[i] > 0 and w is not None) else 2.0
        while x[i] > 0 and w is not None:
            chosen += 1
        return chosen

    assert f(X, 3) == 2
    with pytest.raises(IndexError, match="index 12 of `x`"):
        f(X, 12)


def test_what_is_told():
    @spmdvm.kernel
    def f(x, w=None, mode="a"):
        assert w is not None, "no weights"
        return x

    with pytest.raises(AssertionError, match=r"w is not None \(no weights\)"):
        f(1.0)
    assert f(1.0, 2.0) == 1
    with pytest.raises(ValueError, match="unknown method cubic, not 'mean'"):
        spmdvm.kernel(interpolated)(0.5, PLACES, X[:5], "cubic")


def test_texts_are_printed(capfd):
    @spmdvm.kernel
    def f(a, mode="a", w=None):
        print(mode, f"{mode} {mode!r} {w}", a[0])
        return a[0]

    f(np.ones(1))
    assert capfd.readouterr().out == "a a 'a' None 1.000000\n"


def made(power):
    what, nothing = "power", None

    @spmdvm.kernel
    def f(x, w=None, mode="power"):
        if nothing is not None or mode == "none":
            return 0.0
        y = x**power if mode == what else x
        return y if w is None else y * w

    return f


def test_pickles():
    kernel = made(2)
    found = pickle.loads(pickle.dumps(kernel))
    for args in ((3.0,), (3.0, 2.0), (3.0, None, "x"), (3.0, 2.0, "none")):
        assert found(*args) == kernel(*args)
    assert found(3.0, 2.0) == 18


def test_combinators_take_their_defaults():
    assert spmdvm.reduce("+", X, map=clipped) == spmdvm.reduce("+", X)
    f = lambda x, w=None, how="twice", k=2.0: x * k if w is None and how == "twice" else 0.0  # noqa: E731
    assert (spmdvm.map(f, X) == X * 2).all()


def test_other_kernels_and_tools_take_them():
    other = spmdvm.kernel(within)

    @spmdvm.kernel
    def f(a, tolerance=None):
        total = 0.0
        for i in range(len(a)):
            total += other(a[i], tolerance)
        return total

    assert np.isclose(f(X), (X + 1e-3).sum())
    assert np.isclose(f(X, 1.0), (X + 1).sum())
    assert np.isclose(f.profile(X).result, f(X))
    assert "total" in str(f.explain())
    stepper = f.stepper(X, None)
    assert "tolerance" not in str(stepper)


def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    kernel = spmdvm.kernel(clipped)
    lazy = kernel(da.from_array(X, chunks=5), None, 0.4)
    assert (lazy.compute() == np.minimum(X, 0.4)).all()


def test_beside_tuples_and_lists() -> None:
    def scaled(a, by=None, how="add", shift=(1.0, 2.0)):
        x, y = shift
        if by is None:
            by = (x, y)
        kept = []
        for v in a:
            if how == "add":
                kept.append(v + by[0] + y)
            else:
                kept.append(v * by[0] + by[1])
        return np.array(kept)

    def either(a, p=None, q=None):
        if p is None:
            return a if q is None else a + q
        x, y = p
        return a * x + y

    def hidden(a, w=None):
        return np.array([w * 2 for w in a]) if w is None else a * w

    a = np.arange(5.0)
    assert spmdvm.kernel(hidden)(a).tolist() == hidden(a).tolist()
    for given in ({}, {"how": "mul"}, {"by": (2.0, 3.0)}, {"by": (2, 3.0), "how": "mul"}, {"shift": (0.5, 4.0)}):
        assert spmdvm.kernel(scaled)(a, **given).tolist() == scaled(a, **given).tolist(), given
    for given in ({}, {"q": 2.0}, {"p": (2.0, 1.0)}, {"p": (2.0, 1.0), "q": 3.0}):
        assert spmdvm.kernel(either)(a, **given).tolist() == either(a, **given).tolist(), given
