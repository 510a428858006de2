"""Going over syntax trees visits what `ast` does, but for contexts and operators, on every version of Python."""

import ast
from pathlib import Path

import pytest
from spmdvm._kernel._trees import arms, children, own_nodes, walk

FILES = sorted(Path(__file__).parent.glob("*.py"))[:40]
LEFT_OUT = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
OTHER_SYNTAX = """
async def f(*, a=1, b, **rest) -> int:
    global x
    async with p as q, r: await q
    async for z in y: yield z
    try:
        del x[1:2, ::3], rest["a"]
    except (TypeError, ValueError) as error:
        raise KeyError from error
    finally:
        import numpy.linalg as la
    w: int = {**rest, 1: 2}
    return [v async for v in x if v if w], f"{w!r:>{v}}", lambda u, /, *t: (yield), (n := ~w), b"", ..., a < b < w
"""


@pytest.mark.parametrize("text", [OTHER_SYNTAX, *(file.read_text() for file in FILES)])
def test_all_nodes_are_gone_over(text: str) -> None:
    """Each level after the one around it, each node's in the order of its fields."""
    tree = ast.parse(text)
    assert walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, LEFT_OUT)]
    for node in ast.walk(tree):
        assert children(node) == [each for each in ast.iter_child_nodes(node) if not isinstance(each, LEFT_OUT)]


def test_functions_within_one_are_their_own() -> None:
    """Of these there are the defaults, which are computed where the function is defined."""
    tree = ast.parse("def f(a=b):\n    c\n    def g(d=e, *, h=i, j):\n        k\n    return m\n")
    names = [node.id for node in own_nodes(tree.body[0].body) if isinstance(node, ast.Name)]
    assert names == ["c", "e", "i", "m"]


def test_arms_are_those_of_conditions_within_conditions() -> None:
    """An expression without a condition is its only value."""
    expression = ast.parse("a if b else (c if d else e + f)", mode="eval").body
    assert [ast.unparse(arm) for arm in arms(expression)] == ["a", "c", "e + f"]
    assert arms(None) == [None]
