"""Kernels go to other processes: by name where these can import them, else by value."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import portable_kernels
import pytest
import spmdvm
from portable_kernels import maker

HERE = Path(__file__).parent
X = np.array([1.0, 4.0, 9.0])


def through_pickle(found):
    return pickle.loads(pickle.dumps(found))


def elsewhere(program, folder, *names):
    """Run a script, and give what it prints."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(program))
    path = os.pathsep.join([str(HERE), *sys.path])
    ran = subprocess.run(
        [sys.executable, str(script), *names],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_importable_kernels_go_by_name():
    assert through_pickle(portable_kernels.imported) is portable_kernels.imported
    assert through_pickle(portable_kernels.first) is portable_kernels.first
    assert len(pickle.dumps(portable_kernels.imported)) < 100
    assert copy.copy(portable_kernels.imported) is portable_kernels.imported
    assert copy.deepcopy([portable_kernels.imported])[0] is portable_kernels.imported


def test_other_kernels_go_by_value():
    made = maker(10)
    again = through_pickle(made)
    assert again is not made
    np.testing.assert_array_equal(again(X), made(X))
    np.testing.assert_array_equal(again(X), 10 * X / 2 + 6 + np.sqrt(X))
    assert (again.__name__, again.__qualname__, again.__doc__) == ("made", made.__qualname__, "Say something.")
    assert repr(again) == repr(made)
    assert again.module.width == 8
    assert again.spmd_source == made.spmd_source
    # The Python function is there too.
    assert again.__wrapped__(4.0) == made.__wrapped__(4.0) == 28
    # What it closes over belongs to each.
    np.testing.assert_array_equal(through_pickle(maker(20))(X), 20 * X / 2 + 6 + np.sqrt(X))
    # Again, and the same bytes give the same kernel, which is compiled once.
    assert through_pickle(made) is again
    np.testing.assert_array_equal(through_pickle(again)(X), made(X))


def test_annotations_go_along():
    @spmdvm.kernel
    def weighted(a: spmdvm.array[spmdvm.float32, 2], b: "np.typing.NDArray[np.float32]", n: spmdvm.int32 = 2):
        return a[0, 1] * b[0] + n

    again = through_pickle(weighted)
    assert again(np.ones((2, 2), np.float32), np.full(3, 4, np.float32)) == 6
    with pytest.raises(ValueError, match="array of 2 dimensions, not 1"):
        again(np.ones(2, np.float32), np.ones(2, np.float32))

    @spmdvm.kernel
    def shifted(x: spmdvm.float32, by: spmdvm.uniform[spmdvm.float32]):
        return x + by

    assert through_pickle(shifted)(np.arange(2, dtype=np.float32), 1).tolist() == [1, 2]


class Settings:
    factor = 3
    other = object()


def test_what_names_stand_for_goes_along():
    import math

    settings = Settings()
    table = np.zeros(10**6)
    lanes = spmdvm.lane

    @spmdvm.kernel
    def inner(x):
        return x + 1

    @spmdvm.kernel
    def outer(x):
        return inner(x) * settings.factor + math.floor(np.float64(2.5)) + Settings.factor + np.pi + 0 * int(lanes)

    assert table.size
    packed = pickle.dumps(outer)
    assert len(packed) < 3000
    np.testing.assert_array_equal(pickle.loads(packed)(X), outer(X))


def test_expressions_go_by_value():
    for kernel in (portable_kernels.polynomial, spmdvm.vectorize("sqrt(a*a + b*b)", fp="strict")):
        again = through_pickle(kernel)
        assert repr(again) == repr(kernel)
        arguments = [X] if kernel is portable_kernels.polynomial else [X, X + 1]
        np.testing.assert_array_equal(again(*arguments), kernel(*arguments))


def test_names_of_kernels_go_by_name():
    for name in ("foreach", "lane", "width", "reduce_add", "any", "shuffle"):
        found = getattr(spmdvm, name)
        assert through_pickle(found) is found


def test_errors_and_traps_show_the_source():
    def build(limit):
        @spmdvm.kernel
        def checked(x):
            y = x + 1
            assert y < limit
            return y

        @spmdvm.kernel
        def wrong(x):
            return [x, limit]

        return checked, wrong

    checked, wrong = build(5)
    with pytest.raises(spmdvm.AssertionFailed) as here:
        checked(X)
    with pytest.raises(spmdvm.AssertionFailed) as there:
        through_pickle(checked)(X)
    assert "assert y < limit" in str(here.value)
    assert str(there.value) == str(here.value)
    with pytest.raises(spmdvm.CompileError) as here:
        wrong(X)
    with pytest.raises(spmdvm.CompileError) as there:
        through_pickle(wrong)(X)
    assert str(there.value) == str(here.value)


def apply(kernel, x):
    return kernel(x)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system starts no processes by {method}")
    made = maker(7)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for kernel in (made, portable_kernels.imported, portable_kernels.polynomial):
            want = kernel(X)
            for got in pool.starmap(apply, [(kernel, X)] * 4):
                np.testing.assert_array_equal(got, want)
            for got in pool.map(kernel, [X, X]):
                np.testing.assert_array_equal(got, want)


SCRIPT = """
    import multiprocessing
    import sys

    import numpy as np
    import spmdvm

    FACTOR = 3

    def helper(x):
        return FACTOR * x

    @spmdvm.kernel
    def scripted(x):
        return helper(x) + 1

    cube = spmdvm.vectorize("x**3")

    def main():
        x = np.arange(4)
        with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
            print([part.tolist() for part in pool.map(scripted, [x, x + 1, x + 2])])
            print([part.tolist() for part in pool.map(cube, [x])])

    if __name__ == "__main__":
        main()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_kernels_of_scripts(tmp_path, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system starts no processes by {method}")
    printed = elsewhere(SCRIPT, tmp_path, method)
    assert printed == "[[1, 4, 7, 10], [4, 7, 10, 13], [7, 10, 13, 16]]\n[[0, 1, 8, 27]]\n"


def test_a_process_without_the_source(tmp_path):
    (tmp_path / "kernel.pickle").write_bytes(pickle.dumps(maker(10)))
    program = """
        import pickle, sys
        import numpy as np
        kernel = pickle.loads(open(sys.argv[1], "rb").read())
        print(kernel(np.array([1.0, 4.0])).tolist())
    """
    assert elsewhere(program, tmp_path, str(tmp_path / "kernel.pickle")) == "[12.0, 28.0]\n"


def test_cloudpickle(tmp_path):
    cloudpickle = pytest.importorskip("cloudpickle")
    made = maker(10)
    # A function that uses one, and that no module has.
    for found in (made, lambda x: made(x)):
        np.testing.assert_array_equal(pickle.loads(cloudpickle.dumps(found))(X), made(X))
    assert pickle.loads(cloudpickle.dumps(portable_kernels.imported)) is portable_kernels.imported
    cloudpickle.register_pickle_by_value(portable_kernels)
    try:
        again = pickle.loads(cloudpickle.dumps(portable_kernels.imported))
        assert again is not portable_kernels.imported
        np.testing.assert_array_equal(again(X), portable_kernels.imported(X))
    finally:
        cloudpickle.unregister_pickle_by_value(portable_kernels)
    # A function of a script, with a kernel among its globals, in a process that has neither.
    program = """
        import sys
        import cloudpickle
        import spmdvm

        WEIGHT = 2.5

        @spmdvm.kernel
        def weighted(x):
            return WEIGHT * x

        def through(x):
            return weighted(x) + 1

        with open(sys.argv[1], "wb") as file:
            cloudpickle.dump((weighted, through), file)
    """
    elsewhere(program, tmp_path, str(tmp_path / "pair"))
    weighted, through = pickle.loads((tmp_path / "pair").read_bytes())
    assert weighted(2.0) == 5 and through(np.array([2.0])).tolist() == [6]


def test_joblib():
    joblib = pytest.importorskip("joblib")
    made = maker(3)
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(made)(X + k) for k in range(4))
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, made(X + k))


def test_ray():
    """Ray pickles what it sends as cloudpickle does, and gives arrays that may only be read."""
    ray = pytest.importorskip("ray")
    factor = 3.0

    def shifted(x):
        return x + 1

    @spmdvm.kernel
    def made(x):
        return factor * shifted(x)

    module = spmdvm.compile("export float twice(float x) { return 2 * x; }")

    @spmdvm.kernel
    def fill(out, value):
        for i in spmdvm.foreach(len(out)):
            out[i] = value

    def total(kernel, x):
        return spmdvm.reduce("+", x, map=kernel)

    def refused(kernel, out):
        try:
            kernel(out, 1.0)
        except ValueError as error:
            return str(error)

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        call = ray.remote(lambda function, x: function(x))
        results = ray.get([call.remote(made, X + k) for k in range(3)])
        for k, result in enumerate(results):
            np.testing.assert_array_equal(result, made(X + k))
        assert ray.get(call.remote(module.twice, X.astype(np.float32))).tolist() == [2, 8, 18]
        large = np.arange(200_000.0)
        kept = ray.put(large)
        np.testing.assert_array_equal(ray.get(call.remote(made, kept)), made(large))
        assert ray.get(ray.remote(total).remote(made, kept)) == spmdvm.reduce("+", large, map=made)
        assert "read-only" in ray.get(ray.remote(refused).remote(fill, kept))
    finally:
        ray.shutdown()


def test_the_example():
    example = HERE.parents[1] / "examples" / "python" / "processes.py"
    ran = subprocess.run([sys.executable, example, "2"], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "2 processes drew 76800 points" in ran.stdout
