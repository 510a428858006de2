"""The page of `spmdvm play`, used in a browser as a person would."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import browser as keys
import pytest
from browser import CONTROL, END, ENTER, ESCAPE, HOME, LEFT, RIGHT, SHIFT, TAB, Browser

ROOT = Path(__file__).parents[2]

ADD = """export uniform int add(uniform int a[], uniform int n) {
int sum = 0;
foreach (i = 0 ... n) {
sum += a[i];
a[i] = -a[i];
}
print("%\\n", sum);
return reduce_add(sum);
}
"""

ENDLESS = "export void f(uniform int n) {\nwhile (true) { }\n}\n"


def command() -> list[str] | None:
    """Give the command line: the one that is named, the package's, or the one that was built last."""
    if named := os.environ.get("SPMDVM"):
        return [named]
    package = importlib.util.find_spec("spmdvm")
    if package and package.origin and Path(package.origin).with_name("__main__.py").is_file():
        return [sys.executable, "-m", "spmdvm"]
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    name = "spmdvm.exe" if os.name == "nt" else "spmdvm"
    built = [path for kind in ("debug", "release") if (path := target / kind / name).is_file()]
    return [str(max(built, key=lambda path: path.stat().st_mtime))] if built else None


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve the page."""
    spmdvm = command()
    if spmdvm is None:
        pytest.skip("the command `spmdvm` is not built (cargo build)")
    play = subprocess.Popen([*spmdvm, "--timeout", "600", "play", "--no-open", "--json"], stdout=subprocess.PIPE)
    assert play.stdout is not None
    yield json.loads(play.stdout.readline())["url"]
    play.kill()
    play.communicate()


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    """Start a browser."""
    if why := keys.missing():
        pytest.skip(why)
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def page(shared: Browser, url: str) -> Iterator[Browser]:
    """Open the page; at the end the browser must not have complained."""
    shared.open(url)
    shared.run("removeEventListener('pagehide', main.save); sessionStorage.clear(); main.save = () => {};")
    shared.resize(1280, 900)
    shared.dark(False)
    shared.open(url)
    shared.shows("#entry option", "settle")
    shared.complaints()
    yield shared
    # An answer that says what is wrong is no success to the browser.
    complaints = [text for text in shared.complaints() if "status of 400" not in text]
    assert complaints == []


def write(page: Browser, text: str) -> None:
    """Type a program in place of the one that is there."""
    source = page.one("#source")
    source.click()
    page.press(CONTROL, "a")
    source.type(text)


def word(page: Browser, name: str, text: str) -> None:
    """Type a word for a parameter."""
    field = page.one(f'#parameters input[name="{name}"]')
    field.click()
    page.press(CONTROL, "a")
    field.type(text)


def step_to(page: Browser, number: int) -> None:
    """Wait until this step is shown."""
    page.shows("#place h2", f"Step {number} of ")


def lanes(page: Browser, selector: str) -> list[str]:
    """Give what a row of the table of lanes shows."""
    return page.run("return [...document.querySelectorAll(arguments[0] + ' td')].map(e => e.textContent)", selector)


def active(page: Browser, name: str) -> str:
    """Give a mask as a strip."""
    return "".join(lanes(page, f'[data-mask="{name}"]'))


def here(page: Browser) -> list[str]:
    """Give the line of the source that is highlighted."""
    return page.run("return [...document.querySelectorAll('.line.here')].map(e => e.textContent.trim())")


def test_a_run(page: Browser) -> None:
    """The program to begin with, by a click."""
    page.one("#run").click()
    page.shows("#status", "Ran in ")
    assert page.text("#printed") == "rounds: [1,10,2,0,6,8,1,6]\n"
    assert "f32[8], from 0.5 to 11" in page.text('[data-array="a"] h3')
    assert len(page.all('[data-array="a"] .bar')) == 8
    page.one('[data-array="a"] summary').click()
    assert page.one('[data-array="a"] pre').text.strip() == "0 │ 1.5  11   3 0.5   7 8.5   2   7"


def test_typing_a_program(page: Browser) -> None:
    """Lines are indented as they are typed, Ctrl+Enter runs, and what it prints and returns is shown."""
    write(page, ADD)
    assert page.one("#source").property("value").splitlines()[3] == "        sum += a[i];"
    page.shows("#entry option", "add")
    word(page, "a", "[1, 2, 3, 4, 5]")
    word(page, "n", "5")
    page.press(CONTROL, ENTER)
    page.shows("#status", "Ran in ")
    assert page.text("#result") == "15"
    assert page.text("#printed") == "[1,2,3,4,5,0,0,0]\n"
    page.one('[data-array="a"] summary').click()
    assert "-1 -2 -3 -4 -5" in page.one('[data-array="a"] pre').text


def test_keys_of_the_editor(page: Browser) -> None:
    """Tab indents and Shift+Tab takes that back; Escape and Tab leave."""
    write(page, "int x;")
    page.press(HOME)
    page.press(TAB)
    assert page.one("#source").property("value") == "    int x;"
    page.press(SHIFT, TAB)
    assert page.one("#source").property("value") == "int x;"
    page.press(ESCAPE)
    page.press(TAB)
    assert page.run("return document.activeElement.id") != "source"


def test_mistakes_stand_at_their_lines(page: Browser) -> None:
    """A squiggle, a note at the end of the line, and a list that leads there; all gone when it is mended."""
    write(page, "export void f(uniform int n) {\nint x = y;\nint unused = 1;\n}\n")
    page.shows("#problems", "Line 2: there is no `y` here")
    assert page.text(".line:nth-child(2) .squiggle.error") == "y"
    assert page.text(".line:nth-child(2) .note") == "there is no `y` here"
    page.one("#run").click()
    page.shows("#status", "The program does not compile.")
    page.press(CONTROL, HOME)
    page.one("#problems button").click()
    assert page.run("return document.activeElement.selectionStart") == 43
    page.press(SHIFT, RIGHT)
    page.one("#source").type("n")
    page.shows("#problems", "W0")
    assert "there is no" not in page.text("#problems")
    assert page.text(".squiggle.error") == ""
    assert page.text(".squiggle.warning") != ""


def test_a_word_that_does_not_fit(page: Browser) -> None:
    """The message names the parameter, which is marked."""
    word(page, "n", "many")
    page.press(ENTER)
    page.shows("#status", "`n` is of type i32, and `many` is no such value")
    assert page.run("return document.querySelector('[name=n]').getAttribute('aria-invalid')") == "true"
    word(page, "a", "@secret.npy")
    word(page, "n", "8")
    page.press(ENTER)
    page.shows("#status", "`a`: the playground reads no files")


def test_a_trap_stands_at_its_line(page: Browser) -> None:
    """Where the program has stopped, and why."""
    word(page, "n", "10")
    page.one("#run").click()
    page.shows(".trap", "out_of_bounds")
    assert "read of index 8 of `a`, which has 8 elements" in page.text(".trap")
    assert page.text(".line .squiggle.error") == "a[i]"
    assert "index out of bounds" in page.text(".line .note.error")
    page.one(".trap details summary").click()
    assert "│         float x = a[i];" in page.one(".trap details").text
    # What was printed before stays readable.
    assert page.text("#printed").startswith("rounds: ")
    # Stepping begins at the trap.
    page.one("#step").click()
    page.shows("#trap-here", "out_of_bounds")
    assert here(page)[0].startswith("float x = a[i];")


def test_stepping_forwards_and_backwards(page: Browser) -> None:
    """The slider, its keys and buttons: lanes, masks, what has changed, and the line."""
    page.press(CONTROL, SHIFT, ENTER)
    step_to(page, 0)
    assert active(page, "current") == "■" * 8
    seen = {}
    for number in range(14):
        step_to(page, number)
        seen[number] = (here(page), active(page, "current"), lanes(page, '[data-variable="x"]'))
        page.press(RIGHT)
    step_to(page, 14)
    halving = next(number for number in seen if seen[number][0] == ["x = x / 2;"])
    assert seen[halving][1] == "·■···■·■"
    assert seen[halving][2] == ["(1.5)", "20", "(3)", "(0.5)", "(7)", "44", "(2)", "12"]
    # What that line has changed is marked at the next one.
    page.press(HOME)
    step_to(page, 0)
    for _ in range(halving + 1):
        page.press(RIGHT)
    step_to(page, halving + 1)
    changed = page.run("return [...document.querySelectorAll('[data-variable=x] td.changed')].map(e => e.textContent)")
    assert changed == ["(10)", "(22)", "(6)"]
    assert active(page, "if") == "■■■·■■■■"
    # Backwards, by the key, by the button, and from the end.
    for number in range(halving, -1, -1):
        page.press(LEFT)
        step_to(page, number)
        assert (here(page), active(page, "current"), lanes(page, '[data-variable="x"]')) == seen[number]
    page.press(END)
    page.shows("#place h2", "the function has returned")
    page.one('[aria-label="Back"]').click()
    page.shows("#place h2", ": line ")
    page.one('[aria-label="To the start"]').click()
    step_to(page, 0)
    page.one('[aria-label="Forward"]').click()
    step_to(page, 1)
    # By the picture of all lanes, and by single instructions.
    page.one(".overview").click()
    page.until(lambda: page.text("#place h2").startswith(("Step 25 ", "Step 26 ")), "its middle is shown")
    page.one("#fine").click()
    page.shows("#place h2", "Instruction ")
    before = int(page.one("#slider").property("value"))
    page.one("#slider").click()
    page.press(HOME)
    page.shows("#place h2", "Instruction 0 of ")
    page.press(RIGHT)
    page.shows("#place", "Instruction 1 of ")
    assert before > 26


def test_why_a_lane_has_a_value(page: Browser) -> None:
    """A click on a value, or a question."""
    page.one("#step").click()
    step_to(page, 0)
    page.press(END)
    page.shows("#place h2", "the function has returned")
    page.press(LEFT)
    page.shows("#place h2", ": line ")
    page.one("#why").type("a[1]")
    page.press(ENTER)
    page.shows("#because", "because of line 9")
    page.press(CONTROL, "a")
    page.one("#why").type("nonsense")
    page.press(ENTER)
    page.shows("#because", "nonsense")
    page.one("#slider").click()
    page.shows("[data-variable=x]", "x")
    page.one("[data-variable=x] td").click()
    page.shows("#because", "x[0] = ")


def test_an_edit_ends_stepping(page: Browser) -> None:
    """What was recorded is of another program then."""
    page.one("#step").click()
    step_to(page, 0)
    page.one("#source").type(" ")
    page.until(lambda: page.run("return document.getElementById('stepper').hidden"), "the stepper is gone")
    assert here(page) == []


@pytest.mark.parametrize("how", ["click", "key"])
def test_an_endless_program_is_stopped(page: Browser, how: str) -> None:
    """The page stays alive, and so does the server."""
    write(page, ENDLESS)
    page.shows("#entry option", "f")
    page.press(CONTROL, ENTER)
    page.shows("#status", "Running…")
    page.until(lambda: not page.one("#stop").property("disabled"), "it can be stopped")
    if how == "click":
        page.one("#stop").click()
    else:
        page.press(ESCAPE)
    page.shows("#status", "Stopped.")
    assert "while (true) { }" in page.text(".line:nth-child(2)")
    assert "interrupted" in page.text(".line:nth-child(2) .note")
    page.choose("#example", "saxpy")
    page.shows("#entry option", "saxpy")
    page.one("#run").click()
    page.shows("#status", "Ran in ")


def test_a_long_recording_is_cut(page: Browser) -> None:
    """Of an endless program the first steps can be looked at."""
    write(page, ENDLESS)
    page.shows("#entry option", "f")
    page.one("#step").click()
    page.shows("#stepper", "instructions are recorded")
    page.press(RIGHT)
    step_to(page, 1)


def test_explain_lies_over_the_source(page: Browser) -> None:
    """At each line what became of it; gone when it is switched off."""
    page.choose("#example", "mandelbrot")
    page.shows("#entry option", "mandelbrot")
    page.choose("#engine", "clif")
    page.one("#explain").click()
    page.shows("#status", "Ran in ")
    script = "return [...document.querySelectorAll('.line')].findIndex(e => e.textContent.includes('float new_re'))"
    line = page.run(script) + 1
    assert page.text(f".line:nth-child({line}) .note.compiled").startswith("compiled, entered ")
    assert page.run("return document.querySelectorAll('.gutter .compiled').length") > 3
    assert "compiled in the loop at program.ispc:" in page.text(f'.explained [data-line="{line}"]')
    page.one("#explain").click()
    assert page.text(".line .note") == ""
    assert page.all(".explained") == []


def test_an_example_with_a_picture(page: Browser) -> None:
    """A two-dimensional array is drawn, in more than one colour."""
    page.choose("#example", "mandelbrot")
    page.shows("#entry option", "mandelbrot")
    for engine, width in (("interp", "4"), ("auto", "64")):
        page.choose("#engine", engine)
        page.choose("#width", width)
        page.one("#run").click()
        page.shows("#status", "Ran in ")
        script = """
            const canvas = document.querySelector('canvas.picture');
            const all = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const colours = new Set();
            for (let i = 0; i < all.length; i += 4) colours.add(`${all[i]},${all[i + 1]},${all[i + 2]}`);
            return [canvas.width, canvas.height, colours.size, canvas.getAttribute('aria-label')];"""
        columns, rows, colours, label = page.run(script)
        assert (columns, rows) == (192, 96)
        assert colours > 20
        assert label == "counts as a picture: i32[96 × 192], from 0 to 64"


def test_a_reload_keeps_what_was_typed(page: Browser, url: str) -> None:
    """The program, the choices and the words."""
    write(page, "export void kept(uniform int n) { }")
    page.shows("#entry option", "kept")
    word(page, "n", "77")
    page.choose("#width", "32")
    page.open(url)
    page.shows("#entry option", "kept")
    assert page.one("#parameters input").property("value") == "77"
    assert page.one("#width").property("value") == "32"


@pytest.mark.parametrize("is_dark", [False, True])
def test_it_can_be_read(page: Browser, is_dark: bool) -> None:
    """Text stands out from its ground (WCAG's 4.5 : 1), and every control has a name."""
    page.dark(is_dark)
    page.one("#explain").click()
    page.shows("#status", "Ran in ")
    word(page, "n", "9")
    page.one("#run").click()
    page.shows(".trap", "out_of_bounds")
    page.one("#step").click()
    page.shows("#place h2", "Step")
    script = """
        const parse = (colour) => {
          const canvas = document.createElement('canvas');
          const context = canvas.getContext('2d', { willReadFrequently: true });
          context.fillStyle = colour;
          context.fillRect(0, 0, 1, 1);
          return [...context.getImageData(0, 0, 1, 1).data];
        };
        const over = ([r, g, b, a], ground) => [r, g, b].map((c, i) => c * a / 255 + ground[i] * (1 - a / 255));
        const ground = (element) => {
          if (!element) return [255, 255, 255];
          return over(parse(getComputedStyle(element).backgroundColor), ground(element.parentElement));
        };
        const light = (rgb) => {
          const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const pale = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const isLeftOut = 'script, option, :disabled, .hidden-text, .mask';
        while (walker.nextNode()) {
          const element = walker.currentNode.parentElement;
          const text = walker.currentNode.data.trim();
          if (!text || !element.checkVisibility() || element.closest(isLeftOut)) continue;
          const behind = ground(element);
          const [a, b] = [light(over(parse(getComputedStyle(element).color), behind)), light(behind)];
          const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          const what = element.className || element.tagName;
          if (contrast < 4.5) pale.push(`${what}: ${text.slice(0, 20)}: ${contrast.toFixed(2)}`);
        }
        return [...new Set(pale)];"""
    assert page.run(script) == []
    nameless = """
        const controls = document.querySelectorAll('button, input, select, textarea, [role=img], [role=region]');
        const isNameless = (e) => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim());
        return [...controls].filter(isNameless).map((e) => e.outerHTML);"""
    assert page.run(nameless) == []


@pytest.mark.parametrize("width", [320, 420, 800, 1280])
def test_nothing_sticks_out(page: Browser, width: int) -> None:
    """At any width the page scrolls downwards only."""
    page.resize(width, 800)
    sticks_out = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.run(sticks_out) <= 0
    page.choose("#width", "64")
    page.one("#run").click()
    page.shows("#status", "Ran in ")
    assert page.run(sticks_out) <= 0
    page.one("#step").click()
    step_to(page, 0)
    page.press(RIGHT)
    step_to(page, 1)
    assert page.run(sticks_out) <= 0


def test_the_wrong_token(shared: Browser, url: str) -> None:
    """Says what to do."""
    shared.open(url[:-1])
    assert "open the address that `spmdvm play` has printed" in shared.text("body")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems show pages in other ways")
def test_the_browser_that_is_opened(shared: Browser, url: str, tmp_path: Path) -> None:
    """It gets an address that works once, and the page can be loaded again."""
    note = tmp_path / "opened"
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > "{note}.new"\nmv "{note}.new" "{note}"\n')
    opener.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "DISPLAY": ":0"}
    with subprocess.Popen([*command(), "play", "--json"], stdout=subprocess.PIPE, env=env) as play:
        try:
            printed = json.loads(play.stdout.readline())["url"]
            shared.until(note.is_file, "an address is opened")
            ticket = note.read_text()
            assert ticket.split("?")[0] == printed.split("?")[0]
            assert printed.split("=")[1] not in ticket
            shared.open(ticket)
            shared.shows("#entry option", "settle")
            assert shared.run("return location.href") == printed
            shared.send("POST", "refresh", {})
            shared.shows("#entry option", "settle")
            shared.open(ticket)
            assert "the token is missing or wrong" in shared.text("body")
        finally:
            play.kill()


def test_the_picture_in_the_documentation(page: Browser, tmp_path: Path) -> None:
    """What it shows is still there; `UPDATE_DOCS=1` takes it anew."""
    page.resize(1280, 760)
    page.one("#step").click()
    step_to(page, 0)
    for number in range(1, 8):
        page.press(RIGHT)
        step_to(page, number)
    assert here(page) == ["x -= 1;"]
    update = os.environ.get("UPDATE_DOCS")
    path = ROOT / "docs" / "pictures" / "playground.png" if update else tmp_path / "playground.png"
    page.screenshot(path)
    kept = (ROOT / "docs" / "pictures" / "playground.png").read_bytes()
    assert kept[:8] == b"\x89PNG\r\n\x1a\n"
    # Width and height; letters differ from machine to machine.
    assert path.read_bytes()[16:24] == kept[16:24]
