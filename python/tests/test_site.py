"""The documentation's site: its pages are current, its links lead somewhere, and reading it fetches nothing."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import browser
import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"

has_builder = pytest.mark.skipif(not importlib.util.find_spec("material"), reason="mkdocs-material is not installed")


def test_generated_pages_are_current() -> None:
    done = subprocess.run([sys.executable, SITE / "pages.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_public_name_has_an_entry() -> None:
    import spmdvm

    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name in spmdvm.__all__:
        assert f"### `{name}`\n" in text or f"`{name}`" in text or f"spmdvm.{name}" in text, name
    for name in dir(spmdvm.Module):
        assert name.startswith("_") or f"#### `Module.{name}`\n" in text, name


class Page(HTMLParser):
    """What a page fetches, what it links to, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"] or "")
        if tag == "a":
            self.links.append(values.get("href") or "")
        elif tag in ("script", "img", "iframe", "link"):
            self.fetched += [value for value in (values.get("src"), values.get("href")) if value]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built; anything the builder warns of is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", SITE / "mkdocs.yml", "-d", folder]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stderr
    return folder


@has_builder
def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 60
    for path, page in pages.items():
        for link in page.links + page.fetched:
            if urlsplit(link).scheme or not link:
                continue
            file, anchor = urldefrag(unquote(link))
            target = (path.parent / file).resolve() if file else path
            assert target.exists(), f"{path.relative_to(site)} links to {link}"
            assert not anchor or anchor in pages[target].anchors, f"{path.relative_to(site)} links to {link}"


@has_builder
def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = Page(path.read_text(encoding="utf-8"))
        assert page.fetched
        assert [link for link in page.fetched if urlsplit(link).netloc] == [], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", path.read_text(encoding="utf-8")), path


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing about it."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@has_builder
@pytest.mark.skipif(browser.missing() is not None, reason=str(browser.missing()))
def test_the_site_in_a_browser(address: str) -> None:
    """Its pictures are there, its search finds, and everything came from the server of the test."""
    page = browser.Browser()
    try:
        page.open(f"{address}/index.html")
        assert page.run("return document.querySelector('article img').naturalWidth") == 800
        page.one(".md-search__input").click()
        page.one(".md-search__input").type("reduce_by_index")
        page.until(lambda: "reduce_by_index" in page.text(".md-search-result__list"), "a result of the search")
        fetched = page.run("return performance.getEntriesByType('resource').map(entry => entry.name)")
        assert fetched and [name for name in fetched if not name.startswith((address, "data:"))] == []
        page.open(f"{address}/files/examples/crev/mergesort.ispc.html")
        assert "export" in page.text("article pre")
        assert page.complaints() == []
    finally:
        page.close()
