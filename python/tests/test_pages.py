"""The code on the pages of docs/ is run as it stands there, and does what they say.

UPDATE_DOCS=1 writes what is printed into the pages.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["index", "from/numpy", "from/numba", "from/ispc", "from/cuda", "performance"]

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(page: str, folder: Path) -> dict:
    """Execute the blocks of a page, one after the other; where a block of text follows, it is what was printed."""
    blocks = BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    names: dict = {"__name__": "page"}
    executed = 0
    for k, (kind, text) in enumerate(blocks):
        if kind != "python" or ("import numba\n" in text and not importlib.util.find_spec("numba")):
            continue
        # Kernels are read from the lines of a file.
        path = folder / f"{k}" / f"{Path(page).name}.md"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, str(path), "exec"), names)
        executed += 1
        if k + 1 < len(blocks) and blocks[k + 1][0] == "text":
            if os.environ.get("UPDATE_DOCS"):
                fill(DOCS / f"{page}.md", text, without_folders(printed.getvalue(), folder))
                continue
            assert shape(printed.getvalue(), folder) == shape(blocks[k + 1][1], folder), f"block {k} of {page}"
    assert executed
    return names


def fill(page: Path, program: str, printed: str) -> None:
    """Put what a program printed into the block behind it."""
    before, after = page.read_text(encoding="utf-8").split(f"{program}```\n\n```text\n")
    page.write_text(
        f"{before}{program}```\n\n```text\n{printed.strip()}\n```" + after.split("\n```", 1)[1], encoding="utf-8"
    )


def shape(text: str, folder: Path) -> str:
    """Leave out numbers and folders, which differ from run to run."""
    return re.sub(r"\d+(\.\d+)?", "N", without_folders(text, folder).strip())


def without_folders(text: str, folder: Path) -> str:
    return re.sub(re.escape(str(folder)) + r"/\d+/", "", text)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """The blocks hold assertions of their own, which compare what was before with what comes after."""
    names = run(page, tmp_path)
    if page == "index":
        re_, im = np.broadcast_arrays(names["re"], names["im"][:, None])
        x, y, n = re_.copy(), im.copy(), np.zeros(re_.shape, np.int32)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(256):
                inside = x * x + y * y <= 4
                n += inside
                x, y = np.where(inside, x * x - y * y + re_, x), np.where(inside, 2 * x * y + im, y)
        assert (n == names["iterations"]).mean() > 0.99


@pytest.mark.parametrize("page", [path.relative_to(DOCS) for path in sorted(DOCS.glob("from/*.md"))], ids=str)
def test_pages_on_switching_are_of_a_readable_length(page: Path) -> None:
    assert 60 <= len((DOCS / page).read_text(encoding="utf-8").splitlines()) <= 190
