"""What the site's builder does besides Markdown.

Documents link to files of the project by paths that work in a checkout and on code forges. Here every such file
becomes a page below `files/`, so that no link leads out of the site. Examples in the language are coloured.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pygments.lexers
from mkdocs.structure.files import File, Files
from pygments.lexers.c_cpp import CLexer
from pygments.token import Keyword, Name

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
# Pages of the project that the navigation has.
ALWAYS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LANGUAGES = {".py": "python", ".ispc": "ispc", ".isph": "ispc", ".c": "c", ".h": "c", ".rs": "rust", ".json": "json"}

LINK = re.compile(r"(?<=\]\()([^)\s#]*)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


class IspcLexer(CLexer):
    """The language as C with the keywords that it adds."""

    name = "ISPC"
    aliases = ("ispc",)
    words = frozenset(
        (
            "uniform",
            "varying",
            "export",
            "task",
            "launch",
            "sync",
            "foreach",
            "foreach_tiled",
            "foreach_active",
            "foreach_unique",
            "crev",
            "unmasked",
            "cif",
            "cfor",
            "cwhile",
            "cdo",
            "in",
            "new",
            "delete",
            "soa",
            "reference",
            "template",
            "typename",
            "operator",
            "noinline",
            "print",
            "assert",
        )
    )
    numbers = frozenset(
        ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bool", "size_t")
    )
    lanes = frozenset(("programIndex", "programCount", "taskIndex", "taskCount", "threadIndex", "threadCount"))

    def get_tokens_unprocessed(self, text: str, stack: Any = ("root",)) -> Iterator[tuple[int, Any, str]]:
        """Colour what C calls names."""
        for at, token, value in super().get_tokens_unprocessed(text, stack):
            if token in Name and value in self.words:
                token = Keyword
            elif token in Name and value in self.numbers:
                token = Keyword.Type
            elif token in Name and value in self.lanes:
                token = Name.Builtin
            yield at, token, value


def on_startup(**_: Any) -> None:
    """Make the language known by its name."""
    module = types.ModuleType("spmdvm_site_lexer")
    module.__all__, module.IspcLexer = ["IspcLexer"], IspcLexer  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    pygments.lexers.LEXERS["IspcLexer"] = (module.__name__, IspcLexer.name, ("ispc",), ("*.ispc",), ())


def on_files(files: Files, config: Any) -> Files:
    """Add a page for every file of the project that documents link to, and for those that these link to."""
    wanted = list(ALWAYS)
    for file in list(files.documentation_pages()):
        wanted += outside(f"{DOCS}/{file.src_uri}", Path(file.abs_src_path).read_text(encoding="utf-8"))
    seen: set[str] = set()
    while wanted:
        path = wanted.pop()
        if path in seen:
            continue
        seen.add(path)
        text = text_of(path)
        files.append(File.generated(config, page_of(path), content=text))
        wanted += outside(path, text)
    files.append(File.generated(config, "style.css", content=(Path(__file__).parent / "style.css").read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to files of the project to their pages. As on forges, what follows a block's language is ignored."""
    markdown = re.sub(r"^```(\w+) [^\n]*$", r"```\1", markdown, flags=re.MULTILINE)
    if page.file.src_uri.startswith("files/") and (ROOT / path_of(page.file.src_uri)).suffix != ".md":
        return markdown
    return in_prose(markdown, lambda prose: LINK.sub(lambda link: lead(link, path_of(page.file.src_uri)), prose))


def lead(link: re.Match[str], here: str) -> str:
    """Give a link of the site for one of the project."""
    target, anchor = link[1], link[2] or ""
    path = resolve(here, target)
    if path is None:
        return link[0]
    if path == DOCS or path.startswith(f"{DOCS}/"):
        if (ROOT / path).is_dir():
            path = f"{path}/{sorted(p.name for p in (ROOT / path).glob('*.md'))[0]}"
        to = path[len(DOCS) + 1 :]
    else:
        to = page_of(path)
    return posixpath.relpath(to, posixpath.dirname(site_path(here)) or ".") + anchor


def outside(here: str, text: str) -> list[str]:
    """Give the files of the project, but for documents, that a document links to."""
    if not here.endswith(".md"):
        # The entries of a listing of a folder.
        return [f"{here}/{name}" for name in entries(here)] if (ROOT / here).is_dir() else []
    found: list[str] = []

    def note(prose: str) -> str:
        for link in LINK.finditer(prose):
            path = resolve(here, link[1])
            if path is not None and not path.startswith(f"{DOCS}/"):
                found.append(path)
        return prose

    in_prose(text, note)
    return found


def in_prose(markdown: str, change: Any) -> str:
    """Change what stands between blocks of code."""
    parts, at = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [change(markdown[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, change(markdown[at:])])


def resolve(here: str, target: str) -> str | None:
    """Give the path from the root that a link in a file of the project means; nothing for addresses and anchors."""
    if not target or "://" in target or target.startswith(("mailto:", "files/")):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(here), target))


def site_path(path: str) -> str:
    """Give the page of a file of the project."""
    return path[len(DOCS) + 1 :] if path.startswith(f"{DOCS}/") else page_of(path)


def page_of(path: str) -> str:
    """Give the page of a file that is no document."""
    return f"files/{path}" if path.endswith(".md") else f"files/{path}.md"


def path_of(page: str) -> str:
    """Give the file of a page."""
    if not page.startswith("files/"):
        return f"{DOCS}/{page}"
    path = page.removeprefix("files/")
    return path if (ROOT / path).exists() else path.removesuffix(".md")


def text_of(path: str) -> str:
    """Give the Markdown of the page of a file."""
    file = ROOT / path
    if file.is_dir():
        # Names of pages of files are those of the files with `.md` at the end.
        lines = [
            f"- [{name}]({posixpath.basename(path)}/{posixpath.basename(page_of(name))})" for name in entries(path)
        ]
        return f"# {path}\n\n" + "\n".join(lines) + "\n"
    if path.endswith(".md"):
        return file.read_text(encoding="utf-8")
    return f"# {path}\n\n````{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text(encoding='utf-8')}````\n"


def entries(folder: str) -> list[str]:
    """Give the texts in a folder of the project, and its folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = {os.path.relpath(path, folder).split("/")[0] for path in listed.stdout.decode().split("\0") if path}
    return sorted(name for name in names if (ROOT / folder / name).is_dir() or is_text(ROOT / folder / name))


def is_text(file: Path) -> bool:
    """Return whether it is text that can be shown."""
    return file.exists() and file.suffix not in (".npy", ".png", ".ipynb") and b"\0" not in file.read_bytes()[:4096]
