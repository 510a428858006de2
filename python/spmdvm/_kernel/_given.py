"""Lists and dicts that functions are given and change, `push(stack, x)`: those of who calls them, by reference.

A function has the variables of such a list as references, under the names that it has for a list of its own, so that
all that is done with lists and dicts is done with it. Of which types it is may turn out in the function: who calls it
is told, and goes on with the next pass. Lists that are only read are passed as arrays are; dicts always so.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from . import _nones
from ._dict_tables import counts_of, index_of, items_of
from ._program import Unknown
from ._types import FLOAT64, NUMBERS, Array, Num
from ._usage import of_program
from ._values import Dict, Form
from ._variables import spmd_name


class Reference(NamedTuple):
    """A list or dict that is given: its name there, what kind of a dict it is, and what is known of its types."""

    name: str
    kind: Dict | None
    form: Form | None
    types: tuple[Num | None, ...]

    @property
    def identity(self) -> tuple[Any, ...]:
        """What a function that is given it depends on."""
        return self[1:]


class Given:
    """Translates what is given by reference; `Body` has what it needs to know."""

    def reference_at(self, node: ast.expr, is_changed: bool) -> Reference | None:
        """Give the list that a function changes, or the dict, that an argument is; None of anything else."""
        if self.kind_of_dict(node) is not None:
            if is_changed:
                self.refuse_passed(node, self.dict_of(node))
            return self.reference_to(self.dict_of(node))
        name = (self.list_named(node) or self._returned_again(node)) if is_changed else None
        return None if name is None else self.reference_to(name)

    def _returned_again(self, node: ast.expr) -> str | None:
        """Give the list that a function returns that was passed it, `push(push(xs, 1), 2)`; None of anything else."""
        if not isinstance(node, ast.Call) or self.is_method(node) or self.in_arm:
            return None
        if of_program(self.called(node)) is None or id(node) in self.elements:
            return None
        value, parts = self.expression(node), self.regions[0].parts
        found = next((name for name in self.lists if value.parts is None and parts[name].text == value.text), None)
        if found is None and isinstance(value.type, Array):
            # It has been called.
            self.parts_of[id(node)] = node, value
        elif found is None:
            self.elements[id(node)] = self.keep(value)
        return found

    def reference_to(self, name: str) -> Reference:
        """Give a list or dict as it is passed."""
        kind = self.dicts.get(name)
        main = name if kind is None else items_of(name)
        types = tuple(self.types.get(("list", own)) for own in self.lists_of(main))
        return Reference(name, kind, self.list_forms.get(main), types)

    def lists_given(self, name: str) -> list[str]:
        """Give the lists of numbers that are passed for a list or dict."""
        if name not in self.dicts:
            return self.lists_of(name)
        return [*self.lists_of(items_of(name)), index_of(name)]

    def is_given(self, own: str) -> bool:
        """Return whether a list of numbers is one of a list or dict that the function was given."""
        base = own.partition("[")[0]
        return any(base in (name, items_of(name), index_of(name)) for name in self.given)

    def have_given(self) -> None:
        """Begin with the lists and dicts that the function was given."""
        for name, reference in self.given.items():
            main = name
            if reference.kind is not None:
                main, self.dicts[name] = items_of(name), reference.kind
                self.types["list", index_of(name)] = NUMBERS["int32"]
                self.begin_list(index_of(name))
                self._with_type(index_of(name), NUMBERS["int32"], name)
            if reference.form is not None:
                self.list_forms.setdefault(main, reference.form)
            for own, ty in zip(self.lists_of(main), reference.types):
                if ty is not None:
                    self.types.setdefault(("list", own), ty)
            self.begin_list(main)
            self.assigned.add(name)

    def given_params(self) -> list[str]:
        """Write the parameters that are references."""
        found = []
        for name in self.given:
            for own in self.lists_given(name):
                text, of = spmd_name(own), self.types.get(("list", own), FLOAT64)
                found.append(f"uniform {of.spmd} * uniform & {text}")
                found += [f"uniform int & {text}{what}" for what in ("__list__n0", "__most")]
            if name in self.dicts:
                found += [f"uniform int & {count}" for count in counts_of(name)]
        return found

    def given_texts(self, references: dict[str, Reference]) -> list[str]:
        """Write what is passed for them."""
        found = []
        for reference in references.values():
            for own in self.lists_given(reference.name):
                text = spmd_name(own)
                found += [text, f"{text}__list__n0", f"{text}__most"]
            if reference.kind is not None:
                found += counts_of(reference.name)
        return found

    def given_back(self) -> dict[str, Reference]:
        """Give what the function knows of what it was given."""
        return {name: self.reference_to(name) for name in self.given}

    def learn(self, node: Any, references: dict[str, Reference], known: dict[str, Reference]) -> None:
        """Note what a function that was called knows of what it was given."""
        for parameter, told in known.items():
            name = references[parameter].name
            if told.form is not None and told.kind is None:
                self.have_form(node, name, told.form)
            elif told.form is not None:
                self._have_items(node, name, told.form.parts[0], told.form.parts[-1])
            main = name if told.kind is None else items_of(name)
            for own, ty in zip(self.lists_of(main), told.types):
                if ty is not None:
                    self._with_type(own, self.list_type(node, own, ty), own)
            if main in self.list_forms:
                self.regions[0].parts[main] = self.list_of_tuples(main)

    def wait_for_types(self, node: Any) -> None:
        """Have who calls the function find out first of which types a list or dict is that it is given."""
        references = self.given.values()
        if any(None in each.types or (each.form is None and each.kind is not None) for each in references):
            raise Unknown(_nones.UNTYPED, node)
