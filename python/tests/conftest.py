"""What the tests share."""

from __future__ import annotations

import signal

import numpy as np
import pytest
import spmdvm

# A shell's background job ignores SIGINT, and so does whatever it starts: tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

KERNELS = """
export void scale(uniform float x[], uniform int n, uniform float k) {
    foreach (i = 0 ... n) x[i] *= k;
}
export uniform float total(const uniform float x[], uniform int n) {
    float sum = 0;
    foreach (i = 0 ... n) sum += x[i];
    return reduce_add(sum);
}
export void copy(const uniform float from[], uniform float to[], uniform int n) {
    foreach (i = 0 ... n) to[i] = from[i];
}
export void nothing(uniform float a[], uniform float b[], uniform float c[], uniform float d[]) { }
"""


@pytest.fixture(scope="session")
def kernels() -> spmdvm.Module:
    """Some plain functions."""
    return spmdvm.compile(KERNELS)


@pytest.fixture
def floats() -> np.ndarray:
    """Ten floats."""
    return np.arange(10, dtype=np.float32)
