"""Times the seven benchmarks of "Function Call Re-Vectorization" in all variants, and counts the instructions executed.

Prints the paper's figure 11 and the two series of figure 12 as tables (Markdown), with ratios to Par. Every variant's
result is compared with that of a plain Rust program before it is timed; that program is the column "Rust".

    python benches/crev.py [--figure 11|12] [--only bk,sm] [--scale F] [--width N] [--engine E] [--rounds N]

`--scale 1` gives the sizes of the paper (a book and a text of 200 MB and more).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COLUMNS = {"rust": "Rust", "seq": "Seq", "naive": "naive", "par": "Par", "launch": "Launch", "crev": "CREV"}

Row = dict[str, dict]


def measure(figure: str, options: list[str]) -> dict[tuple, Row]:
    """Run the benchmarks of a figure: what was measured by variant, for each benchmark and x."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "spmdvm-benches", "--bin", "crev", "--"]
    run = subprocess.run([*command, "--figure", figure, *options], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if run.returncode != 0:
        sys.exit(run.returncode)
    rows: dict[tuple, Row] = {}
    for line in run.stdout.decode().splitlines():
        result = json.loads(line)
        rows.setdefault((result["benchmark"], result.get("x")), {})[result["variant"]] = result
    return rows


def table(head: list[str], rows: list[list[str]]) -> str:
    """Format a table."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def cell(row: Row, variant: str, what: str, form: str, unit: float) -> str:
    """Give a number and its ratio to that of Par."""
    value = row.get(variant, {}).get(what)
    if value is None:
        return "×"
    text = format(value * unit, form)
    par = row.get("par", {}).get(what)
    return f"{text} ({value / par:.2f})" if par and variant != "par" else text


def numbers(rows: dict[tuple, Row], what: str, form: str, unit: float, label: str, variants: list[str]) -> str:
    """Format what was measured, a line for each benchmark or x."""
    lines = []
    for (name, x), row in rows.items():
        first = [name, next(iter(row.values()))["size"]] if x is None else [f"{x:,}"]
        lines.append(first + [cell(row, variant, what, form, unit) for variant in variants])
    return table(label.split("|") + [COLUMNS[variant] for variant in variants], lines)


def figure11(options: list[str]) -> None:
    """Print the table of all benchmarks."""
    rows = measure("11", options)
    variants = [v for v in COLUMNS if any(v in row for row in rows.values())]
    print("Time in milliseconds (ratio to Par):\n")
    print(numbers(rows, "seconds", ".2f", 1e3, "Pg|input", variants), "\n")
    if any("vector" in result for row in rows.values() for result in row.values()):
        counted = [v for v in variants if v != "rust"]
        print("Executed vector instructions, in thousands (ratio to Par):\n")
        print(numbers(rows, "vector", ",.1f", 1e-3, "Pg|input", counted), "\n")
        print("All executed instructions, in thousands (ratio to Par):\n")
        print(numbers(rows, "instructions", ",.1f", 1e-3, "Pg|input", counted), "\n")


def figure12(options: list[str]) -> None:
    """Print the two series."""
    rows = measure("12", [*options, "--no-counts"] if "--no-counts" not in options else options)
    variants = ["rust", "seq", "par", "launch", "crev"]
    for name, label in (("sm", "characters of the pattern"), ("le", "edges")):
        series = {key: row for key, row in rows.items() if key[0] == name}
        if series:
            size = next(iter(series.values()))["par"]["size"]
            about = f", {size.split(',')[0]}" if name == "sm" else ""
            print(f"{name}{about}: time in milliseconds (ratio to Par):\n")
            print(numbers(series, "seconds", ".3f", 1e3, label, variants), "\n")


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--figure", choices=["11", "12"], help="only this figure")
    for name, about in {
        "only": "only these benchmarks, with commas between them",
        "scale": "the large inputs of the paper times this (default: 0.01)",
        "width": "lanes of a gang (default: 8, as in the paper)",
        "engine": "interp, ir, clif or auto (default: auto)",
        "rounds": "how often each is timed; the median is shown (default: 5)",
    }.items():
        parser.add_argument(f"--{name}", help=about)
    parser.add_argument("--no-counts", action="store_true", help="do not count instructions")
    given = parser.parse_args()
    options = [
        word
        for name in ("only", "scale", "width", "engine", "rounds")
        if getattr(given, name) is not None
        for word in (f"--{name}", getattr(given, name))
    ]
    options += ["--no-counts"] * given.no_counts
    if given.figure != "12":
        figure11(options)
    if given.figure != "11":
        figure12(options)


if __name__ == "__main__":
    main()
