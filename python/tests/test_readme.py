"""What README.md and the package's documentation show is what happens."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest
import spmdvm

README = Path(__file__).parents[2] / "README.md"


def test_the_examples_of_the_readme() -> None:
    """Each program is followed by what it prints or raises."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)
    examples = [(text, blocks[i + 1]) for i, (kind, text) in enumerate(blocks) if kind == "python"]
    assert len(examples) == 2
    names: dict[str, object] = {}
    for program, (kind, expected) in examples:
        assert kind == ""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(program, names)
            except spmdvm.Trap as error:
                print(f"spmdvm.{type(error).__name__}: {error}")
        shown = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
        assert shown == expected.rstrip()


@pytest.mark.parametrize("text", [spmdvm.__doc__, spmdvm.Module.__doc__, spmdvm.Globals.__doc__])
def test_examples_in_docstrings(text: str) -> None:
    """They are doctests."""
    test = doctest.DocTestParser().get_doctest(text, {}, "spmdvm", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0
