"""What decorators make of functions.

Of a kernel, of a cache (`functools.lru_cache`) and of what another compiler has made (numba's `njit`) the function
within is translated, since they give what it gives. What other decorators do is code of Python of its own: that is not
left out silently.
"""

from __future__ import annotations

import inspect
from typing import Any

# Checkers of types, which wrap functions or write into them.
CHECKERS = ("typeguard", "beartype")
_LIBRARIES = ("spmdvm", "numpy")


def inner_of(found: Any) -> Any:
    """Give the function of Python whose results something gives when it is called; it may be that itself."""
    while hasattr(found, "__wrapped__") and _is_transparent(found):
        found = found.__wrapped__
    return found


def is_wrapped(found: Any) -> bool:
    """Return whether something is what a decorator made of a function, and does more than to call it."""
    inner = inner_of(found)
    return hasattr(inner, "__wrapped__") and not _is_of_libraries(inner)


def _is_transparent(found: Any) -> bool:
    if inspect.isfunction(found):
        return any(tool in found.__code__.co_filename for tool in CHECKERS)
    # (What is called in C has no code of Python around the function.)
    return not inspect.isfunction(type(found).__call__) or _is_of_libraries(type(found))


def _is_of_libraries(found: Any) -> bool:
    return (getattr(found, "__module__", None) or "").partition(".")[0] in _LIBRARIES
