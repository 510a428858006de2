"""The options of kernels and expressions: those of `compile`, checked before there is anything to compile."""

from __future__ import annotations

from typing import Any

from .._cache import remembered
from .._errors import CompileError
from .._spmdvm import _compile_silently as _compile
from ._instead import close_to

NAMES = (
    "width", "engine", "fp", "check", "include_paths", "sandbox_includes", "defines", "fuel", "timeout", "memory",
    "task_threads", "jit", "hints", "no_warn",
)  # fmt: skip


def check(who: str, options: dict[str, Any]) -> None:
    """Refuse names that are no options, and values that an option does not take.

    Args:
        who: the function that was given them, for messages.
        options: by name.

    Raises:
        TypeError, ValueError: what is wrong; the text names the option.
    """
    for name in options:
        if name == "host":
            raise TypeError(
                f"{who}() has no option `host`; functions of Python that a kernel calls are compiled with it, without "
                "being declared; one that cannot be is called before or behind, or by a program of the language, "
                "spmdvm.compile(text, host={…})"
            )
        if name not in NAMES:
            close = close_to(name, NAMES, 0.6)
            help = f"did you mean `{close}`?" if close is not None else f"its options are {', '.join(NAMES)}"
            raise TypeError(f"{who}() has no option `{name}`; {help}")
    if options:
        remembered(("options are right", frozen(options)), lambda: _try(who, options))


def frozen(options: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Give what things made with such options are found by; values may be lists."""
    return tuple(sorted((name, repr(value)) for name, value in options.items()))


def _try(who: str, options: dict[str, Any]) -> bool:
    """Compile nothing with the options: the compiler knows what they take."""
    try:
        _compile([("<options>", "")], **options)
    except CompileError:
        pass
    except (TypeError, ValueError) as error:
        # What does not depend on the machine, which may be another one at the call.
        if str(error).startswith(tuple(options)):
            raise type(error)(f"{who}(): {error}") from None
    return True
