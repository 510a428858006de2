"""Elements that arrays of indices name, in kernels: stored to, computed indices, and what comes with them."""

import copy

import numpy as np
import pytest
import spmdvm


def check(function, *args):
    """Assert that a kernel gives, and leaves behind, what the function does."""
    own = copy.deepcopy(args)
    wanted, found = function(*own), spmdvm.kernel(function)(*args)
    pairs = [*zip(args, own), *(zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)])]
    for f, w in pairs:
        assert np.asarray(f).dtype == np.asarray(w).dtype and np.shape(f) == np.shape(w)
        np.testing.assert_array_equal(f, w)


def elements(a):
    order, marks, b = np.array([0, 2, 2]), np.zeros(5, np.bool_), a.copy()
    marks[order] = True
    b[order] = a[1:4] * 10
    b[order] += 1
    b[np.cumsum(order)[1:] - 2] -= a[1:3]
    b[[3, -1]] = 0.5
    a[np.argsort(a)] = np.arange(5.0)
    a[order] = a[order + 1]
    return marks, b


def rows(a):
    m, order = np.zeros((5, 3)), np.array([0, 2, -1])
    m[order] = 5
    m[order, 1] = 7
    m[1, order] = 8
    m[order[:2]] = np.arange(3.0)
    m[order] = m[order] + np.outer(a[:3], a[:3])
    m[order, order] = [3, 4, 5]
    m[order[1:], order[:2]] = -1
    m[order] *= 2
    m[order, 0] += a[:3]
    return m


def masks(a):
    low, high = a > 1, a < 4
    return a[low * high], a[low & high], a[low + high]


def test_elements_are_stored_one_after_another():
    check(elements, np.array([1.0, 3, 5, 0, 2]))


def test_rows_and_pairs():
    check(rows, np.array([1.0, 3, 5, 0, 2]))


def test_indices_are_computed():
    def both(a):
        order, m = np.array([0, 2, 1]), np.outer(a, a)
        near, turned = a[np.arange(3) + 1].sum(), a[3 - order] + a[order]
        return a[order + 1], a[-order], a[[0, 2]], a[order[1:] - 1] * 2, near, turned, m[order + 1], m[[1, 0]]

    check(both, np.array([1.0, 3, 5, 0]))
    check(masks, np.array([1.0, 3, 5, 0]))


def test_complex_numbers():
    def stored(z, order):
        z[order] = z[order + 1] * 2j
        return z[order]

    check(stored, np.array([1 + 2j, 3, 4j, 5]), np.array([0, 2]))


def test_indices_that_are_outside():
    def stored(a, order):
        a[order] = 1.0

    kernel = spmdvm.kernel(stored)
    for at in (4, -5):
        with pytest.raises(IndexError) as caught:
            kernel(np.zeros(4), np.array([0, at]))
        assert "a[order] = 1.0" in str(caught.value)
    with pytest.raises(AssertionError, match="as many elements are stored as indices name"):
        spmdvm.kernel(lambda_of_two)(np.zeros(4), np.array([0, 1, 2]))


def lambda_of_two(a, order):
    a[order] = a[:2]


def both_of(a):
    return a * 2, a + 1


def parts(a):
    m, k, b = np.zeros((5, 2)), np.zeros((5, 2)), np.zeros(5)
    for c in range(2):
        m[:, c], k[:, c] = both_of(a)
    a[1:], b[0] = a[:-1], 1.0
    b[::2], b[1::2] = 0, a[1]
    m[0], m[1] = m[1] * 2, m[0] + 1
    k[:2], n = k[3:], 3
    a[:2], a[2:4] = a[2:4], a[:2]
    return m, k, b, n


def test_parts_are_assigned_several_at_once():
    check(parts, np.array([1.0, 3, 5, 0, 2]))


def common(a, b):
    both = np.concatenate((a, b))
    both.sort()
    return both[:-1][both[1:] == both[:-1]]


def test_arrays_without_a_name_are_asked_for_their_shape():
    def counted(a):
        count = 0
        for k in range(3):
            count += common(a[k:], a).shape[0]
        n, whole = np.sort(a).shape[0] + a.copy().size, len(common(a, a))
        return count, n, whole, np.nonzero(a)[0].shape[0], common(a, a).ndim, (a * 2).shape, (a[1:] + a[:-1]).size

    def asked(a):
        return 1 if common(a, a).shape[0] == 4 else 0

    a = np.array([1.0, 3, 5, 0])
    check(counted, a)
    assert spmdvm.kernel(asked)(a) == asked(a) == 1


def test_types_are_those_of_what_is_computed():
    def made(a):
        return np.ones(3, dtype=np.asarray(a[0]).dtype), np.ones(3, (a * 2.0).dtype), np.ones(2, a[1:].dtype)

    for dtype in ("int8", "float32", "float64"):
        check(made, np.array([1, 3, 5], dtype))


def test_types_of_numba():
    numba = pytest.importorskip("numba")
    kernel = spmdvm.kernel(lambda a: (numba.uint8(a[1] * 10), numba.float32(a[0]), np.zeros(2, numba.int16)))
    x, y, z = kernel(np.array([0.1, 3.0]))
    assert (x, y) == (30, np.float32(0.1)) and (x.dtype, y.dtype, z.dtype) == (np.uint8, np.float32, np.int16)


def test_sorts_of_every_kind():
    def orders(a):
        first = a.argsort(), a.argsort(kind="mergesort"), np.argsort(a, kind="stable")
        return first[0], first[1], first[2], np.sort(a, kind="quicksort"), a[a.argsort()][::-1], np.argsort(-a)

    check(orders, np.array([3.0, 1, 5, 0, 4]))


def test_counts_of_integers():
    def counts(k, w):
        few = np.bincount(k[:0]), np.bincount(k, minlength=9)
        return (
            few[0],
            few[1],
            np.bincount(k),
            np.bincount(k, w),
            np.bincount(k, weights=w, minlength=2),
            np.bincount(k)[1],
        )

    k = np.array([1, 3, 5, 0, 3, 3])
    check(counts, k, k * 0.1)
    check(counts, k.astype(np.uint8), k.astype(np.float32))
    with pytest.raises(AssertionError, match="`bincount` takes integers from 0 up"):
        spmdvm.kernel(lambda k: np.bincount(k))(np.array([1, -1]))


def test_lists_of_tuples_are_arrays_of_rows():
    def path(a):
        steps, mixed = [(0, 0)], []
        for k in range(3):
            steps.append((k, k * 2))
            mixed.append((k, a[k]))
        m = np.array(mixed, dtype=np.float32)
        return np.array(steps), np.array(mixed), np.transpose(np.array(mixed)[::-1]), m[:, 1] * 2, np.array(steps).shape

    check(path, np.array([0.1, 3.5, 5]))


def test_arrays_are_appended():
    def appended(a):
        m = np.outer(a, a)
        return np.append(a, 1.0), np.append(a, a * 2), np.append(a, [1, 2]), np.append(m, 3), np.append(a, np.min(a))

    check(appended, np.array([1.0, 3, 5, 0]))


def costs(a, b):
    n, k = len(a), len(b)
    m = np.full((n + 1, k + 1), np.inf)
    m[0, 0] = 0.0
    for i in range(n):
        for j in range(k):
            m[i + 1, j + 1] = (a[i] - b[j]) ** 2 + min(m[i, j], m[i, j + 1], m[i + 1, j])
    return m[1:, 1:]


def every_other(m):
    return m[1:, ::2]


def test_functions_give_parts_of_several_dimensions():
    def used(a):
        whole, m, total = costs(a, a[1:]), np.outer(a, a), 0.0
        whole[0] = 1
        part = every_other(m)
        for k in range(3):
            total += costs(a[k:], a).sum()
        return whole, whole.shape, part + 1, m.sum(), costs(a, a)[-1, -1], total

    check(used, np.array([1.0, 3, 5, 0]))

    def shared(a):
        m = np.outer(a, a)
        part = every_other(m)
        part[0, 0] = 9.0
        return m.sum()

    # In Python that changes the array of which it is a part.
    with pytest.raises(spmdvm.CompileError, match="`every_other` may return an array that it is passed"):
        spmdvm.kernel(shared)(np.array([1.0, 3, 5, 0]))


def steps_of(a) -> list[tuple[int, float]]:
    steps = [(0, 0.5)]
    for k in range(len(a)):
        steps.append((k, a[k] * 2))
    return steps


def test_lists_in_annotations_tell_nothing():
    def path(a) -> tuple[list[tuple[int, float]], float]:
        return steps_of(a), a[0]

    def doubled(a) -> list[float]:
        return [x * 2 for x in a]

    a = np.array([1.0, 3, 5])
    for function in (steps_of, path, doubled):
        assert spmdvm.kernel(function)(a) == function(a)


def test_axes_and_shapes_by_functions():
    def asked(a):
        m, wide = np.outer(a, a), np.zeros((4, 3))
        wide[:, :2] = np.expand_dims(a, axis=-1)
        return (
            np.expand_dims(a, 0),
            np.expand_dims(a, -1) * a,
            wide,
            np.shape(m)[1],
            np.ndim(m),
            np.size(a),
            np.shape(a),
        )

    check(asked, np.array([1.0, 3, 5, 0]))
    assert spmdvm.kernel(lambda a: np.shape(a)[0])(np.zeros(5)) == 5
