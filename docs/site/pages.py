"""Writes the pages that are made of the package: docs/api.md and docs/command-line.md.

`python docs/site/pages.py` writes them, `python docs/site/pages.py --check` fails where they are not current.

Signatures of what is written in Rust come from the type stubs, which stubtest compares with the module; all others,
and the texts, come from the package itself.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spmdvm
from spmdvm import _combine, _explain, _kernel, _profile, _step
from spmdvm._kernel import _annotations, _evaluate, _random

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "python" / "spmdvm" / "_spmdvm.pyi"

# As many fit beside the contents.
COLUMNS = 96

NOTE = "<!-- Made by docs/site/pages.py of the package. Do not edit. -->\n"

API = """# All functions and classes

Every public name of `spmdvm`, with its signature. [Kernels](kernels.md), [Combinators](combinators.md) and
[Calls from Python](python.md) explain what belongs together; in a session `help(spmdvm.compile)` shows the same.
"""

SECTIONS: list[tuple[str, str, list[str]]] = [
    (
        "Programs",
        "Texts in the language become modules, whose functions take numbers and numpy arrays.",
        ["compile", "compile_file", "Module", "Function", "Globals", "Pointer", "per_lane"],
    ),
    (
        "Kernels and expressions",
        "Functions and expressions written in Python.",
        ["kernel", "Kernel", "evaluate", "vectorize", "array", "uniform", "rng"],
    ),
    (
        "In kernels",
        "What kernels call. Outside of kernels these are an error.",
        [
            "foreach",
            "lane",
            "width",
            "all",
            "any",
            "none",
            "broadcast",
            "reduce_add",
            "reduce_max",
            "reduce_min",
            "rotate",
            "shift",
            "shuffle",
        ],
    ),
    (
        "Combinators",
        "Over whole arrays, with named operators or functions.",
        ["map", "reduce", "scan", "reduce_by_index", "filter"],
    ),
    (
        "Profiles and timelines",
        "What `Module.profile`, `Kernel.profile` and `Module.timeline` give.",
        ["Profile", "ProfileLine", "Timeline", "TaskRun"],
    ),
    (
        "Explanations",
        "What `Module.explain` and `Kernel.explain` give.",
        ["Explanation", "ExplainedLine"],
    ),
    (
        "Stepping",
        "What `Module.stepper` and `Kernel.stepper` give.",
        ["Stepper", "Step", "StepVariable", "StepCall"],
    ),
    (
        "Errors",
        "`SpmdError` is the base of all.",
        [
            "SpmdError",
            "CompileError",
            "LinkError",
            "CompileWarning",
            "Trap",
            "OutOfBounds",
            "BadPointer",
            "ReadOnly",
            "DivisionByZero",
            "AssertionFailed",
            "Overflow",
            "Aborted",
            "StackOverflow",
            "OutOfMemory",
            "OutOfFuel",
            "OutOfTime",
            "Interrupted",
            "HostError",
            "UnboundExtern",
        ],
    ),
    ("Data of errors and reports", "", ["Diagnostic", "Label", "Related", "Finding", "TrapFrame"]),
]

# numpy's own, under the names that annotations take.
SCALARS = [
    "bool_",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
OTHERS = ["__version__", "load_ipython_extension"]


def stubs() -> dict[str, ast.stmt]:
    """Give what the stubs of the part in Rust declare, by name."""
    tree = ast.parse(STUBS.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def sources() -> dict[str, ast.stmt]:
    """Give what the part in Python defines, by name."""
    found: dict[str, ast.stmt] = {}
    errors = sys.modules["spmdvm._errors"]
    for module in (spmdvm, errors, _kernel, _annotations, _evaluate, _random, _combine, _explain, _profile, _step):
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                # Of overloads the last stands for what is done.
                found[node.name] = node
    return found


def api() -> str:
    """Give the page of all names."""
    named = [name for _, _, names in SECTIONS for name in names]
    public = {*spmdvm.__all__, *spmdvm._HIDDEN, "load_ipython_extension"}
    assert public == {*named, *SCALARS, *OTHERS}, (
        f"in SECTIONS or public, not both: {public ^ {*named, *SCALARS, *OTHERS}}"
    )
    known = {**sources(), **stubs()}
    parts = [NOTE + API]
    for title, about, names in SECTIONS:
        parts.append(f"## {title}\n" + (f"\n{about}\n" if about else ""))
        parts += [entry(name, getattr(spmdvm, name), known.get(name)) for name in names]
    parts.append(
        "## Types of numbers\n\nnumpy's own, for annotations: " + ", ".join(f"`{name}`" for name in SCALARS) + ".\n"
    )
    parts.append("## Others\n\n`spmdvm.__version__` is the version, a text.\n")
    parts.append(entry("load_ipython_extension", spmdvm.load_ipython_extension, known["load_ipython_extension"]))
    return "\n".join(parts)


def entry(name: str, value: Any, node: ast.stmt | None) -> str:
    """Give what the page says of a name."""
    shown = [f"### `{name}`\n"]
    if isinstance(node, ast.FunctionDef):
        shown.append(code(signature(f"spmdvm.{name}", node)))
    elif isinstance(value, type):
        shown.append(code(class_line(name, value)))
    elif isinstance(node, ast.ClassDef) or not callable(value):
        shown.append(code(f"spmdvm.{name}"))
    else:
        shown.append(code(f"spmdvm.{name}{inspect.signature(value)}"))
    shown.append(prose(inspect.getdoc(value) or ""))
    if isinstance(value, type) and isinstance(node, ast.ClassDef):
        shown += members(name, value, node)
    return "\n".join(shown)


def class_line(name: str, value: type) -> str:
    """Give the line that names a class and its bases."""
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    return f"class spmdvm.{name}" + (f"({', '.join(bases)})" if bases else "")


def members(owner: str, value: type, node: ast.ClassDef) -> Iterator[str]:
    """Give the public methods and properties of a class, in its order."""
    last: dict[str, ast.FunctionDef] = {}
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and is_public(child.name):
            last[child.name] = child
    for name, child in last.items():
        decorators = [ast.unparse(d) for d in child.decorator_list]
        if "property" in decorators:
            head = f"{owner}.{name}: {ast.unparse(child.returns) if child.returns else 'Any'}"
        else:
            all_of_it = [c for c in node.body if isinstance(c, ast.FunctionDef) and c.name == name]
            head = "\n".join(signature(f"{owner}.{name}", c, is_method=True) for c in all_of_it)
        yield f"#### `{owner}.{name}`\n\n{code(head)}\n{prose(inspect.getdoc(getattr(value, name, None)) or '')}"


def is_public(name: str) -> bool:
    """Return whether a member is for users: of special methods those that are called by other means than operators."""
    return not name.startswith("_") or name in ("__call__", "__getitem__", "__setitem__")


def signature(name: str, node: ast.FunctionDef, is_method: bool = False) -> str:
    """Give a signature as text, an argument a line where it is long."""
    arguments = node.args
    if is_method:
        for group in (arguments.posonlyargs, arguments.args):
            if group and group[0].arg == "self":
                del group[0]
                break
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    written = [spaced(argument) for argument in split(ast.unparse(arguments).replace("_Host", host_type()))]
    text = f"{name}({', '.join(written)}){result}"
    if len(text) <= 100:
        return text
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in written) + f"){result}"


@functools.cache
def host_type() -> str:
    """Give what the stubs' alias for `host=` stands for."""
    tree = ast.parse(STUBS.read_text(encoding="utf-8"))
    return next(
        ast.unparse(n.value) for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "_Host"
    )


def spaced(argument: str) -> str:
    """Give an argument with the spaces around the default that belong there if it has a type."""
    return re.sub(r"^(\w+: [^=]+)=", r"\1 = ", argument)


def split(arguments: str) -> list[str]:
    """Split a list of arguments at the commas that are in no brackets."""
    parts, depth = [""], 0
    for c in arguments:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def code(text: str) -> str:
    """Give a block of Python that is a signature. (It is not run.)"""
    return f"```py\n{text}\n```\n"


def prose(text: str) -> str:
    """Give the text of a docstring as Markdown: sessions as blocks, sections with their entries as lists."""
    parts: list[str] = []
    for block in re.split(r"\n\s*\n", textwrap.dedent(text)):
        lines = textwrap.dedent(block).splitlines()
        if lines and lines[0].startswith(">>>"):
            parts.append("```pycon\n" + "\n".join(lines) + "\n```")
            continue
        head = re.fullmatch(r"(Args|Attributes|Raises|Returns):", lines[0]) if lines else None
        if head:
            parts.append(f"*{head[1] if head[1] != 'Args' else 'Arguments'}*")
            lines = textwrap.dedent("\n".join(lines[1:])).splitlines()
            if head[1] == "Returns":
                parts.append(escaped(" ".join(line.strip() for line in lines)))
                continue
        items = entries(lines, is_section=head is not None)
        if items and (head or len(items) > 1 or len(lines) > 1):
            parts.append("\n".join(f"- `{name}`: {escaped(about)}" for name, about in items))
        else:
            parts.append("\n".join(escaped(line) for line in lines))
    return "\n\n".join(parts) + "\n"


def entries(lines: list[str], is_section: bool) -> list[tuple[str, str]]:
    """Give entries, `name: text`, whose further lines are indented but in sections; none if it is something else."""
    found: list[tuple[str, str]] = []
    for line in lines:
        start = re.match(r"([A-Za-z_*][\w*, ]*): (.*)", line)
        if start:
            found.append((start[1], start[2]))
        elif found and (is_section or line.startswith(" ")):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            return []
    return found


def escaped(text: str) -> str:
    """Keep Markdown from seeing emphasis and tags in what is not between backquotes; name pages by links."""
    pieces = text.split("`")
    for k in range(0, len(pieces), 2):
        pieces[k] = re.sub(r"([*<\[])", r"\\\1", pieces[k])
        pieces[k] = re.sub(r"\bdocs/([\w-]+)\.md", r"[\1](\1.md)", pieces[k])
    return "`".join(pieces)


def command_line() -> str:
    """Give the page of commands: what `--help` says of each."""
    top = help_of()
    commands = re.findall(r"^  ([a-z]+) ", top.split("Commands:")[1].split("Options:")[0], re.MULTILINE)
    parts = [
        NOTE + "# The command line\n",
        "`spmdvm`, a script of the package, is the same as `python -m spmdvm`. In a checkout without Python it\n"
        "is `cargo run --release --bin spmdvm --`. `spmdvm man` prints all of this as manual pages.\n",
        f"```text\n{top}```\n",
    ]
    for name in commands:
        if name != "help":
            parts.append(f"## {name}\n\n```text\n{help_of(name)}```\n")
    return "\n".join(parts)


def help_of(*command: str) -> str:
    """Give what `--help` prints, with long lines broken."""
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "spmdvm", *command, "--help"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return "".join(f"{broken(line.rstrip())}\n" for line in done.stdout.splitlines())


def broken(line: str) -> str:
    """Break a line of help, so that what goes on stands below where the description begins."""
    if len(line) <= COLUMNS:
        return line
    head = re.match(r" *\S+(?: \S+)*  +|\s*", line)
    column = head.end() if head and head.end() < COLUMNS // 2 else 0
    return textwrap.fill(line, COLUMNS, subsequent_indent=" " * column, break_long_words=False, break_on_hyphens=False)


PAGES = {"docs/api.md": api, "docs/command-line.md": command_line}


def main() -> None:
    """Write the pages, or tell which are stale."""
    stale = []
    for path, make in PAGES.items():
        text, file = make(), ROOT / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in sys.argv:
                file.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        sys.exit(f"stale: {', '.join(stale)}; `python docs/site/pages.py` writes them anew")


if __name__ == "__main__":
    main()
