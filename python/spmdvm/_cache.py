"""What was made before: programs, kernels, and what was found out about operators.

Threads that want the same thing at once get the same one, which one of them makes while the others wait; different
things are made side by side.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Callable

# What was not used for the longest time goes first.
_MOST = 1024
_remembered: OrderedDict[Any, Any] = OrderedDict()
# Locks may be taken again by the thread that has them: handlers of signals and finalizers run between any two
# bytecodes of it, and may ask for something, too.
_lock = threading.RLock()


class _Making:
    """A thing that is being made, by the thread that has the lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        # How many threads make it or wait for it.
        self.threads = 0


_making: dict[Any, _Making] = {}


def remembered(key: Any, make: Callable[[], Any]) -> Any:
    """Give what was made for a key before, or make it. What raises is not remembered."""
    found = _find(key)
    if found is not None:
        return found
    with _lock:
        making = _making.get(key)
        if making is None:
            making = _making[key] = _Making()
        making.threads += 1
    try:
        with making.lock:
            found = _find(key)
            if found is None:
                made = make()
                with _lock:
                    found = _remembered.setdefault(key, made)
                    if len(_remembered) > _MOST:
                        _remembered.popitem(last=False)
            return found
    finally:
        with _lock:
            making.threads -= 1
            if making.threads == 0 and _making.get(key) is making:
                del _making[key]


def _find(key: Any) -> Any:
    with _lock:
        found = _remembered.get(key)
        if found is not None and key in _remembered:
            _remembered.move_to_end(key)
        return found
