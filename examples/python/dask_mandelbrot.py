"""The Mandelbrot set on a Dask cluster of several processes on this machine.

`python examples/python/dask_mandelbrot.py [--workers N] [--size N]` compares the picture with that of one process, bit
for bit.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import numpy as np
import spmdvm

LIMIT = 200


@spmdvm.kernel
def smooth(re: spmdvm.float32, im: spmdvm.float32):
    """Give how fast a point escapes, as a number between steps."""
    x, y, n = re, im, 0
    while n < LIMIT and x * x + y * y < 256:
        x, y = x * x - y * y + re, 2 * x * y + im
        n += 1
    return np.float32(n) + 4 - np.log2(np.log2(x * x + y * y)) if n < LIMIT else np.float32(0)


def process(_: object = None) -> int:
    """Give the number of the process."""
    return os.getpid()


def main() -> None:
    """Draw with a cluster and without, and compare."""
    import dask
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--size", type=int, default=1500)
    options = parser.parse_args()
    re = np.linspace(-2, 0.6, options.size, dtype=np.float32)
    im = np.linspace(-1.3, 1.3, options.size, dtype=np.float32)[:, None]
    dask.config.set({"distributed.worker.memory.terminate": False})
    with (
        LocalCluster(options.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        lazy = smooth(da.from_array(re, chunks=options.size // 2), da.from_array(im, chunks=(options.size // 4, 1)))
        processes = set(client.run(process).values()) - {os.getpid()}
        start = time.perf_counter()
        picture = lazy.compute()
        seconds = time.perf_counter() - start
    if not np.array_equal(picture.view(np.int32), smooth(re, im).view(np.int32)):
        sys.exit("the cluster's picture differs")
    print(
        f"{len(processes)} processes computed {lazy.npartitions} chunks in {seconds:.2f} s, the same bit for bit as one"
    )


if __name__ == "__main__":
    main()
