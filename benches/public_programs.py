"""The table of the programs of `public.py`, which `public_examples.py`, `public_pictures.py`, `public_numbers.py` fill.

Each function there makes the arguments of the program of its name, in the order of its parameters, from a source of
random numbers; sizes are its parameters, as in `ispc_kernels.py`. The programs themselves are not here: only where they
lie in their repositories, what they are called with, and what of it is compared how exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from ispc_kernels import Arguments, Kernel

Prepare = Callable[[Callable[..., Any], Arguments], None]
"""Calls exported functions, by their names, on arguments of the program, and may put what they give into these."""


class Program(NamedTuple):
    """A program of a repository, and what to do with it."""

    repository: str
    """owner/name"""
    file: str
    entry: str
    """The exported function."""
    kernel: Kernel
    """Its data, and how results are compared."""
    links: dict[str, str]
    """Which fields of records hold the addresses of which arrays: `record.field`, or an array of addresses."""
    includes: tuple[str, ...]
    """Folders of the repository that `#include` searches."""
    defines: dict[str, str]
    """Macros; `{width}` stands for the number of lanes."""
    more: tuple[str, ...]
    """Other sources of the program."""
    absent: tuple[str, ...]
    """Functions of C that the file declares, and that are never called."""
    prepare: Prepare | None
    """What is called once before."""

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.kernel.name

    @property
    def results(self) -> tuple[str, ...]:
        """Names of what is compared."""
        return ("the result",) * (self.kernel.returns is not None) + self.kernel.outputs


PROGRAMS: dict[str, Program] = {}


def program(
    repository: str,
    file: str,
    entry: str,
    *outputs: str,
    small: dict[str, int],
    scratch: tuple[str, ...] = (),
    returns: type[np.generic] | None = None,
    tolerance: float = 0,
    share: float = 0,
    links: dict[str, str] | None = None,
    includes: tuple[str, ...] = (),
    defines: dict[str, str] | None = None,
    more: tuple[str, ...] = (),
    absent: tuple[str, ...] = (),
    prepare: Prepare | None = None,
) -> Callable[[Callable[..., Arguments]], Callable[..., Arguments]]:
    """Enter a function that makes arguments into the table."""

    def enter(make: Callable[..., Arguments]) -> Callable[..., Arguments]:
        name = make.__name__
        kernel = Kernel(name, make, small, outputs, scratch, returns, tolerance, share)
        given = links or {}, includes, defines or {}
        where = Program(repository, file, entry, kernel, *given, more, absent, prepare)
        PROGRAMS[name] = where
        return make

    return enter
