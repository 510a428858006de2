"""What was made before: programs, and what was found out about operators."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Callable

# What was not used for the longest time goes first.
_MOST = 1024
_remembered: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()


def remembered(key: Any, make: Callable[[], Any]) -> Any:
    """Give what was made for a key before, or make it."""
    with _lock:
        found = _remembered.get(key)
        if found is not None:
            _remembered.move_to_end(key)
            return found
    made = make()
    with _lock:
        found = _remembered.setdefault(key, made)
        if len(_remembered) > _MOST:
            _remembered.popitem(last=False)
    return found
