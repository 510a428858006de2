"""Kernels that are wrong at a line which is marked with `# HERE`, and behind it what the error says."""

import inspect
from pathlib import Path

import pytest
import spmdvm


def marked(function):
    """Give the number of the marked line, its code, and what is said of it."""
    lines, first = inspect.getsourcelines(function)
    at = next(k for k, line in enumerate(lines) if "# HERE" in line)
    code, message = lines[at].split("# HERE")
    return first + at, code.strip(), message.strip()


def assert_told(call, function):
    """Assert that a call fails at the marked line of a function, with what is said of it; give the diagnostic."""
    line, code, message = marked(function)
    with pytest.raises(spmdvm.CompileError) as caught:
        call()
    text = str(caught.value)
    # The comment is in the text too, which shows the line.
    assert message in text.replace(f"# HERE {message}", "") and code in text, text
    assert f"{Path(inspect.getsourcefile(function)).name}:{line}:" in text, text
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.line, diagnostic.severity) == (line, "error"), text
    return diagnostic
