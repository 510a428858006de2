"""Ways to run a kernel that all give the same: engines, widths and kinds of floating point."""

import pytest

WAYS = [
    {},
    {"engine": "interp", "width": 1},
    {"engine": "interp", "width": 16},
    {"engine": "auto", "width": 4},
    {"engine": "auto", "width": 8, "fp": "strict"},
]
EVERY_WAY = pytest.mark.parametrize("options", WAYS, ids=str)
