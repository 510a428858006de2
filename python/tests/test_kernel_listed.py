"""Arrays of listed numbers within expressions, and kernels that return an array they make."""

import numpy as np
import pytest
import spmdvm
from spmdvm import foreach

rng = np.random.default_rng(6)


def rotated(v, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ v + np.array([0, 1])


def of_numbers_alone(angle, sign):
    matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return sign * matrix, np.arange(3)


def rotation(angle):
    p, q = np.array([np.cos(angle), np.sin(angle)]), np.zeros(2)
    q[1] = 1
    return p, q


def in_turns(v):
    up = np.array([0.0, 0, 1])
    if abs(v[2]) > 0.5:
        up = np.array([1.0, 0, 0])
    side = np.cross(up, v)
    return side / np.sqrt(side @ side), np.cross([0, 0, 1], v - 1)


def in_a_loop(v):
    total = 0.0
    for i in range(len(v)):
        for k in (1, 2):
            total += np.sum(np.array([k, i, v[i]]) * k)
    return total


def for_each(a, b, out):
    for i in foreach(len(a)):
        out[i] = np.cross(a[i], b) + np.array([i, 1, np.max(np.array([a[i, 0], 0.5]))])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (rotated, (rng.random(2), 0.3)),
        (of_numbers_alone, (0.3, -1.0)),
        (rotation, (0.3,)),
        (in_turns, (np.array([0.1, 0.2, 0.3]),)),
        (in_turns, (np.array([0.1, 0.2, 0.7]),)),
        (in_a_loop, (rng.random(5),)),
    ],
)
def test_it_is_what_numpy_gives(function, arguments):
    found, expected = spmdvm.kernel(function)(*arguments), function(*arguments)
    several = isinstance(expected, tuple)
    for x, y in zip(found, expected) if several else [(found, expected)]:
        np.testing.assert_allclose(x, y, rtol=1e-13)
        assert np.shape(x) == np.shape(y)


def test_each_element_of_a_foreach_lists_its_own():
    a, b = rng.random((40, 3)), rng.random(3)
    out = np.zeros((40, 3))
    spmdvm.kernel(for_each)(a, b, out)
    expected = np.cross(a, b) + np.stack([np.arange(40), np.ones(40), np.maximum(a[:, 0], 0.5)], axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


def test_numbers_that_are_listed_leave_a_kernel_elementwise():
    kernel = spmdvm.kernel(lambda x: np.max(np.array([x, 2 * x, x * x])) - np.min(np.asarray((x, 1.0))))
    assert kernel.is_elementwise
    assert kernel(np.array([-3.0, 0.5, 4.0])).tolist() == [12, 0.5, 15]


def test_asarray_is_the_array_itself():
    @spmdvm.kernel
    def cleared(a):
        b, c = np.asarray(a), np.array(a)
        b[0] = 0
        return c + np.asarray(a * 2)

    a = np.array([1.0, 2.0])
    assert cleared(a).tolist() == [1, 6] and a[0] == 0


def test_three_elements_are_crossed():
    kernel = spmdvm.kernel(lambda a, b: np.cross(a, b))
    with pytest.raises(AssertionError, match="there are 3 elements"):
        kernel(np.ones(3), np.ones(2))
    for count in (3, 5):
        with pytest.raises(spmdvm.CompileError, match="three numbers in a kernel") as caught:
            kernel(np.ones((count, 3)), np.ones(3))
        assert "loop over the rows" in str(caught.value)


def test_fields_of_records_are_crossed_joined_and_assigned_at_once():
    @spmdvm.kernel
    def turned(ps):
        both = np.hstack((ps["pos"], np.flip(ps["v"])))
        for i in foreach(len(ps)):
            ps[i].pos = ps[i].v = np.cross(ps[i].pos, ps[i].v)
        return both

    ps = np.zeros(20, np.dtype([("pos", np.float64, 3), ("v", np.float64, 3)], align=True))
    ps["pos"], ps["v"] = rng.random((20, 3)), rng.random((20, 3))
    expected, crossed = np.hstack((ps["pos"], np.flip(ps["v"]))), np.cross(ps["pos"], ps["v"])
    assert (turned(ps) == expected).all()
    np.testing.assert_allclose(ps["pos"], crossed, rtol=1e-13)
    assert (ps["v"] == ps["pos"]).all()


@pytest.mark.parametrize("ty", [np.int8, np.uint8, np.int32, np.float32, np.float64])
def test_numbers_of_python_are_as_wide_in_a_list_as_in_numpy(ty):
    def listed(a):
        return np.array([a[0], 2]) * 2, np.array([a[0], 0.1]), np.array([a[0], a[1]]), np.array([a[0], 300])

    a = np.array([100, 7], ty)
    for found, expected in zip(spmdvm.kernel(listed)(a), listed(a)):
        assert found.dtype == expected.dtype and (found == expected).all()
