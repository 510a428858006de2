"""The translation of one function, from its syntax tree to SPMD text, and of the functions that it calls.

A function is translated again and again until the types of its variables no longer change: a variable has the type
that holds whatever is assigned to it. `Body` has what is known on the way, and writes lines; what statements and
expressions become stands in its bases, a module for each.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, NoReturn

from .._errors import CompileError
from . import _annotations, _functions, _nones, _prints
from ._arrays import Made
from ._assignments import Assignments
from ._control import Control, Else
from ._dicts import Dicts
from ._effects import Effects
from ._extremes import Extremes
from ._foreach import Foreach, assigned_in
from ._given import Given, Reference
from ._imports import Imports
from ._inline import inline_of
from ._lists import Lists
from ._named_arrays import NamedArrays
from ._parts import Part
from ._program import Active, Known, Param, Program, Result, Unknown
from ._raises import Raises, is_nothing
from ._returns import Returns
from ._scopes import Local, Scope, names_apart, names_beyond
from ._source import Declaration, Line, Source
from ._trees import own_nodes
from ._tuples import Tuples
from ._types import INT, Array, Num, Record
from ._values import Arguments, Columns, Dict, Entries, Form, Value, of_tuple, tuple_of
from ._variables import Region, Variable, Variables, length_of, length_symbol, spmd_name

_MOST_PASSES = 40
# No program has so many functions that call one another.
_MOST_ACTIVE = 100
# Functions are translated for what is known of their arguments, but not for each of so many calls.
_MOST_INSTANCES = 16


class Body(
    Variables,
    Tuples,
    Extremes,
    Dicts,
    Given,
    Lists,
    NamedArrays,
    Assignments,
    Control,
    Foreach,
    Returns,
    Raises,
    Effects,
    Imports,
):
    """The translation of one function."""

    def __init__(
        self,
        program: Program,
        source: Source,
        params: list[Param],
        lookup: Any,
        uniform: bool,
        scope: Scope | None = None,
        functions: dict[str, Any] | None = None,
        captured: dict[tuple[int, str], str] | None = None,
    ) -> None:
        """Prepare: `lookup` finds what names from outside stand for; `uniform` functions may contain `foreach`.

        `scope` is that of a function within another one; parameters may be `functions`, or variables of functions
        around that are `captured`.
        """
        self.program = program
        self.source = source
        self.scope = scope or Scope(source.tree)
        self.functions, self.captured = functions or {}, captured or {}
        self.params = params
        self.views = {self.param_text(p.name): p for p in params if p.view is not None}
        self.lookup = _outside_of(source.tree, lookup)
        self.uniform = uniform
        self.types: dict[Any, Num] = {}
        # The variables that are bools of numpy's somewhere.
        self.of_numpy: set[Any] = set()
        self.returns: list[Num] | None = None
        self.returns_tuple = False
        # How the result is made of these, if it is a tuple.
        self.form: Form | None = None
        # The record that a kernel is annotated to return; and which results of an elementwise one are records (None for
        # numbers), whose fields it returns one by one, and whether it gives a tuple of them.
        self.result: Record | None = None
        self.records: tuple[Record | None, ...] = ()
        self.gives_several = False
        # If arrays are returned: they, None for numbers, and how many numbers say which part of each it is.
        self.arrays: tuple[Value | None, ...] | None = None
        self.is_tuple = self.gives_arrays = self.returns_numbers = False
        # Those of an earlier pass.
        self.last_arrays: tuple[Value | None, ...] | None = None
        # Whether arrays of one dimension are returned as memory of their own, as each way returns another one; and the
        # parameters, by position, of which these may be copies.
        self.gives_copies = self.copies_now = False
        self.copied_of: set[int] = set()
        # The arrays whose memory the host brings.
        self.hidden: list[Made] = []
        self.stored: set[str] = set()
        # The lists that grow, of the last pass.
        self.known_lists: set[str] = set()
        # The lists and dicts that it is given and may change, which are those of who calls it.
        self.given: dict[str, Reference] = {}
        # The forms of the lists that have tuples, of all passes.
        self.list_forms: dict[str, Form] = {}
        # The parameters that come to stand for other arrays in loops and branches.
        self.renewed: set[str] = set()
        # The names that come to stand for arrays of other lengths there.
        self.resized: set[str] = set()
        # What holds for all numbers of the parts that a name stands for, one after another.
        self.of_parts: dict[Any, Any] = {}
        # The forms of the parameters that are tuples: their values are parameters of their own.
        self.tuples: dict[str, Form] = {}
        self.dims: dict[str, str] = {}
        # What constant arrays from outside are called there, by their names in the text.
        self.tables: dict[str, str] = {}
        # Functions by their names: those within this one, and those that it was given.
        self.local_functions: dict[str, Any] = {}
        # What it is among the active functions, if others call it.
        self.identity: Any = None
        # The indices of the `foreach` in which it is called.
        self.outer_indices: frozenset[str] = frozenset()
        # The active functions whose results were not known in this pass, each with a call.
        self.unknown: dict[Any, Any] = {}
        # What was read before its type was known, in this pass, and an error that may be due to that.
        self.untyped: list[ast.Name] = []
        self.missed: CompileError | None = None
        # The forms of the variables that are tuples, of all passes.
        self.forms: dict[Any, Form] = {}

    # The whole function.

    def translate(self) -> None:
        """Translate until nothing changes; `lines` has the body then."""
        tree = self.source.tree
        statements = tree.body if isinstance(tree, ast.FunctionDef) else [ast.Return(tree)]
        if not isinstance(tree, ast.FunctionDef):
            ast.copy_location(statements[0], tree)
        given = dict(self.dims)
        for _ in range(_MOST_PASSES):
            self.dims = dict(given)
            before = self._known()
            mark = self.program.mark()
            self._pass(statements)
            if before == self._known():
                self._have_types()
                if list(self.unknown) == [self.identity]:
                    self.fail(
                        self.unknown[self.identity],
                        "the type of the result cannot be found out: it depends on this call of the function itself",
                        "of which type is this?",
                        "annotate the function: `-> np.int64`, `-> float` …",
                    )
                return
            active = self.program.active.get(self.identity)
            if active is not None and active.calls_itself:
                # What it calls was translated for what was known of its result then.
                self.program.reset(mark)
        self.fail(tree, "the types of its variables depend on one another without end", "this function")

    def _have_types(self) -> None:
        """Fail if variables still have no types: nothing but None is assigned to them where they are read."""
        if self.missed is not None:
            raise self.missed
        if self.untyped:
            node = self.untyped[0]
            self.wait_for_types(node)
            help = "assign a number to it before, or in the loop"
            self.source.fail(
                node, f"`{ast.unparse(node)}` has no type here", "nothing but None is assigned to it", help
            )

    def _known(self) -> tuple[Any, ...]:
        """Give what a pass may find out, for the next one."""
        found = list(self.returns or []), set(self.stored), set(self.renewed), set(self.of_numpy), self.known_lists
        found = (*found, self.gives_copies, set(self.copied_of), set(self.resized))
        return (dict(self.types), dict(self.of_parts), dict(self.list_forms), *found)

    def _pass(self, statements: list[ast.stmt]) -> None:
        self.lines: list[tuple[str, Line]] = []
        self.indent = 1
        self.at = Line("", 0, "")
        self.fresh = 0
        self.temporaries: list[str] = []
        # How many lines of functions have become part of this one; and whether the statement has called one that may
        # have an effect.
        self.n_inlined, self.has_called = 0, False
        # How many parts of expressions around are computed by some lanes only.
        self.in_arm = 0
        self.unknown = {}
        self.untyped, self.missed = [], None
        self.drawing = False
        self.hidden, self.arrays, self.returns_numbers = [], None, False
        self.copies_now = self.gives_copies
        # The lists that grow so far; and those that this `return` gives to the host.
        self.lists: list[str] = []
        # Those of them without a name, how many stand at a place, and the lists of numbers that those of tuples are.
        self.unnamed: list[str] = []
        self.n_unnamed: dict[tuple[int, int], int] = {}
        self.columns: dict[str, tuple[Form, list[Value]]] = {}
        self.given_away: set[str] = set()
        # The dicts and sets so far, those that expressions make, by their nodes, and what holds of the size of those
        # that loops go over.
        self.dicts: dict[str, Dict] = {}
        self.dicts_made: dict[Any, tuple[ast.expr, Any]] = {}
        self.sizes: dict[int, tuple[str, str]] = {}
        # Those that the kernel is passed, which are only read.
        self.passed_dicts: set[str] = set()
        # The parts of arrays, by their names in the text and by their nodes; and in a statement over all elements, what
        # stands for arrays.
        self.parts: dict[str, Part] = {}
        # Those of them, and their lengths, that may be others each time.
        self.moving: set[str] = set()
        # The lengths of parts, and the counters of loops up to them, that differ from lane to lane.
        self.differing: set[str] = set()
        self.parts_of: dict[int, tuple[ast.expr, Value]] = {}
        self.elements: dict[int, Value] = {}
        # Those that have been computed before the calls that change arrays.
        self.computed: list[ast.expr] = []
        # Calls that looked like some that give arrays, and were executed in front of their statements.
        self.called_before: set[int] = set()
        # What is passed as the numbers of a field, and the name of the array of the records.
        self.taken_of: dict[int, tuple[ast.expr, str]] = {}
        # With which indices of `foreach` the element differs that was translated last; and the one lane that executes,
        # where lanes take turns.
        self.element_apart: frozenset[str] = frozenset()
        self.one: str | None = None
        # Indices and lengths that the element translated last is tested for; what says that they are all inside, and
        # the element without tests; and all that says such things, which is computed first.
        self.unsure: list[tuple[Value, Value]] = []
        self.inside: tuple[str, str] | None = None
        self.flags: dict[str, str] = {}
        # The loops around, and the `else` of the one that comes next.
        self.loops: list[str | Else] = []
        self.next_else: Else | None = None
        self.counts = _assignments(statements)
        self.apart = names_apart(statements)
        self.beyond = names_beyond(statements, self.apart)
        changed = [node.target.id for node in own_nodes(statements) if _changes(node)]
        # But for `a += …`, which does not make `a` another array.
        self.made = {name: count - changed.count(name) for name, count in self.counts.items()}
        # What is assigned in loops that are written out: another value each time.
        self.repeated: set[str] = set()
        # Those of them that one assignment gives one of two values.
        self.chosen: set[str] = set()
        self.local_functions = dict(self.functions)
        names = assigned_in(statements, self.goes_over_elements)
        given = {*self.tuples, *(p.name for p in self.params), *self.given}
        self.regions = [Region("", self.uniform, names | given)]
        self.regions[0].tuples.update({name: form for name, form in self.tuples.items() if not _is_of_list(form)})
        self.assigned: set[str] | None = given
        for param in self.params:
            if isinstance(param.type, Num) and param.name.partition("[")[0] in names:
                # Python's parameters are variables.
                ty = self._grow(("", param.name), param.type)
                self.regions[0].variables[param.name] = Variable(
                    ty, self.uniform and param.uniform, None, spmd_name(param.name)
                )
        for name, form in self.tuples.items():
            if isinstance(form.of, Columns):
                # A list of tuples, which is only read.
                own = [next(p for p in self.params if p.name == of_tuple(name, k)) for k in range(len(form.parts))]
                lists = [Value(self.param_text(p.name), p.type, True) for p in own]
                self.regions[0].parts[name] = self.of_columns(form.of.form, lists)
        self.have_given()
        start = len(self.lines)
        for name, form in self.tuples.items():
            if isinstance(form.of, Entries):
                self.have_passed(ast.copy_location(ast.Name(name, ast.Load()), statements[0]), name, form.of)
        for name in sorted(self.renewed):
            given = ast.copy_location(ast.Name(name, ast.Load()), statements[0])
            self.at = self.source.line(statements[0])
            if name in self.resized:
                self.borrow(name)
            else:
                self.regions[0].parts[name] = self.copied(given, given, None, name)
        self.block(statements)
        if self.assigned is not None:
            self.free_lists([])
        self.known_lists = set(self.lists)
        self.last_arrays = self.arrays or self.last_arrays
        if self.assigned is not None and self.returns is not None:
            what = self.source.tree
            help = "end it with a `return` of a value"
            self.fail(what, "not every way through the function returns a value", "it may end without `return`", help)
        self.lines[start:start] = [
            (f"    const uniform bool {name} = {text};", Declaration(*self.source.line(self.source.tree)))
            for text, name in self.flags.items()
        ]
        place = Declaration(*self.source.line(self.source.tree))
        self.lines[start:start] = [(f"    {text}", place) for text in self.list_declarations()]
        self._declare(self.regions[0], start)

    # What is written, and told.

    def fail(self, node: Any, message: str, note: str, help: str | None = None) -> NoReturn:
        """Raise an error at a node."""
        try:
            self.source.fail(node, message, note, help)
        except CompileError as error:
            if not self.untyped:
                raise
            # It may be due to what is not known yet.
            self.missed = self.missed or error
            raise Unknown(_nones.UNTYPED, self.untyped[0]) from None

    def advise(self, node: Any, what: str, help: str | None = None) -> None:
        """Note which place an assertion of ours is about that says `what`, and what to do."""
        line, column, end = self.source.place(node)
        key, told = (self.at.file, self.at.number, what), ((column, end) if line == self.at.number else None, help)
        if self.program.advice.setdefault(key, told) != told:
            # Nobody knows which of several it is.
            self.program.advice[key] = None, None

    def demand(self, node: Any, test: str, what: str, help: str | None = None) -> None:
        """Write that something must hold, which is told as `what`, and marked at a node if there is one."""
        self.emit(self.demanded(node, test, what, help))

    def demanded(self, node: Any, test: str, what: str, help: str | None = None) -> str:
        """Give what `demand` writes."""
        if node is not None:
            self.advise(node, what, help)
        else:
            self.program.advice[self.at.file, self.at.number, what] = None, help
        escaped = what.replace("\\", "\\\\").replace('"', '\\"')
        return f'assert({test}, "{escaped}");'

    def emit(self, text: str) -> None:
        """Write a line."""
        self.lines.append(("    " * self.indent + text, self.at))

    def temporary(self, stem: str) -> str:
        """Make a name of this function."""
        self.fresh += 1
        self.temporaries.append(f"{stem}__{self.fresh}")
        return self.temporaries[-1]

    def keep(self, value: Value) -> Value:
        """Compute a value once, here."""
        if value.parts is not None:
            return tuple_of((self.keep(part) for part in value.parts), value.of)
        if value.const is not None or not isinstance(value.type, Num):
            return value
        name = self.temporary("t")
        shape = "uniform " if value.uniform else ""
        ty = "int" if value.is_narrow else value.type.spmd
        self.emit(f"const {shape}{ty} {name} = {value.text};")
        return replace(value, text=name, wrapped=None)

    # Statements.

    def block(self, statements: list[ast.stmt]) -> None:
        """Translate statements; what stands behind `return` and its like is left out."""
        for statement in statements:
            if self.assigned is None:
                return
            statement = self.with_names(statement)
            self.at = self.source.line(statement)
            self.has_called = False
            before = self.in_arm, self.indent, self.one, len(self.regions), len(self.loops)
            try:
                self.now = statement
                self.statement(self.compute_in_order(statement))
            except Unknown as missing:
                self.in_arm, self.indent, self.one, regions, loops = before
                del self.regions[regions:], self.loops[loops:]
                self._leave_out(statement, missing)

    def _leave_out(self, statement: ast.stmt, missing: Unknown) -> None:
        """Go on behind a statement that needs what is not known yet; the next pass knows more."""
        self._note(missing)
        if missing.identity is not _nones.UNTYPED or isinstance(statement, ast.Return):
            # As if the call did not return.
            self.assigned = None
        elif self.assigned is not None:
            self.assigned |= assigned_in([statement], self.goes_over_elements)

    def _note(self, missing: Unknown) -> None:
        if missing.identity is _nones.UNTYPED:
            self.untyped.append(missing.node)
        else:
            self.unknown[missing.identity] = missing.node

    def test(self, node: ast.expr) -> str:
        """Translate the condition of statements, which may tell the types that it needs itself."""
        try:
            return self.truth(node)
        except Unknown as missing:
            if missing.identity is not _nones.UNTYPED:
                raise
            self._note(missing)
            return "true"

    def in_one_arm(self, node: ast.expr) -> Value | None:
        """Translate a number, or a tuple, of which only the other one's type may be known yet; None if it is not."""
        try:
            value = self.expression(node)
            return value if value.parts is not None else self._as_number(node, value)
        except Unknown as missing:
            self._note(missing)
            return None

    def statement(self, node: ast.stmt) -> None:
        """Translate a statement."""
        self.now = node
        translate = getattr(self, "do_" + type(node).__name__, None)
        if translate is None:
            what, help = _UNSUPPORTED.get(type(node).__name__, (f"`{type(node).__name__}`", None))
            self.fail(node, f"{what} cannot stand in a kernel", "not supported", help)
        translate(node)

    def do_Pass(self, _: ast.Pass) -> None:
        """`pass`."""

    def do_Expr(self, node: ast.Expr) -> None:
        """Translate a call for its effect, or leave out a docstring."""
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and self.changes_dict(node.value):
            return
        if isinstance(node.value, ast.Call) and (self.changes_list(node.value) or self._changes_array(node)):
            return
        if self.with_out(node.value) is not node.value:
            return
        if isinstance(node.value, ast.Call):
            name = self.called(node.value)
            if name is print:
                return _prints.write(self, node.value)
            value = self.call(node.value, as_statement=True)
            if value is not None and not self.is_list_text(value.text):
                self.emit(f"{value.text};")
            return
        self.expression(node.value)
        self.fail(node, "this expression does nothing", "its value is not used")

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Note a function within the function; it is translated where it is called."""
        if node.decorator_list:
            self.fail(node.decorator_list[0], "functions in a kernel have no decorators", "here")
        other = self.local_functions.get(node.name)
        if (other is not None and getattr(other, "tree", None) is not node) or self.counts.get(node.name):
            help = "give each a name of its own, and choose where they are called: `f(x) if … else g(x)`"
            self.fail(node, f"`{node.name}` is a function here and something else in another place", "here", help)
        self.local_functions[node.name] = Local(self.scope.inner(node), self.lookup_inner)
        if self.assigned is not None:
            self.assigned.add(node.name)

    # Functions that are called.

    def instance(
        self,
        node: Any,
        source: Source,
        lookup: Any,
        given: Arguments,
        name: str,
        key: Any,
        scope: Scope | None = None,
    ) -> Result:
        """Translate a function for arguments of given types, once."""
        names, args = given.names, given.values
        # A number that is the same in all lanes is so in the function too, which may loop and branch by it.
        lanes = tuple(isinstance(arg.type, Array) and not arg.uniform for arg in args)
        uniform = tuple(
            self.begins_uniform(arg) if own else arg.uniform and self.begins_uniform(arg)
            for arg, own in zip(args, lanes)
        )
        plain = all(uniform) and not any(lanes) and self.is_uniform_here()
        types = tuple(INT if arg.type == INT else arg.type for arg in args)
        views = tuple(self.view_of(arg) for arg in args)
        many = sum(other[0] == key for other in self.program.instances) >= _MOST_INSTANCES
        # Of a function that calls itself less would be known each time.
        again = many or any(other[0] == key for other in self.program.active)
        dims = [self._symbols(arg, again) for arg in args]
        own = set(given.captured.values())
        symbols = {symbol for lengths in dims for symbol in lengths}
        known = tuple(None if again and name not in own else _known(arg, symbols) for name, arg in zip(names, args))
        indices = self._apart_indices()
        functions = tuple((name, id(getattr(function, "tree", function))) for name, function in given.functions.items())
        hosts = tuple(
            arg.host if isinstance(arg.type, Num) and not (again and name not in own) else None
            for name, arg in zip(names, args)
        )
        passed = tuple(arg.passed if host is not None else None for arg, host in zip(args, hosts))
        self.program.passed.extend(given.functions.values())
        identity = (key, types, plain, uniform, views, lanes, tuple(dims), tuple(given.tuples.items()), functions)
        identity = (*identity, known, indices, hosts, passed, tuple(given.literals.items()))
        identity = (*identity, tuple((name, each.identity) for name, each in given.references.items()))
        active = self.program.active.get(identity)
        if active is not None:
            active.calls_itself = True
            result = active.body.result_so_far(active.name, node)
        elif identity in self.program.instances:
            result = self.program.instances[identity]
        else:
            if len(self.program.active) >= _MOST_ACTIVE:
                self.fail(node, f"`{name}` calls itself with other types each time", "here", "convert its arguments")
            params = [Param(*param) for param in zip(names, types, uniform, views, lanes, known, hosts, passed)]
            body = Body(self.program, source, params, lookup, plain, scope, given.functions, given.captured)
            body.tuples, body.outer_indices, body.given = given.tuples, indices, given.references
            own = self.program.name(spmd_name(name))
            for name_of, symbols in zip(names, dims):
                for k, symbol in enumerate(symbols):
                    length = f"{body.param_text(name_of)}__n{k}"
                    body.dims[length] = f"{own}.{length}" if symbol is None else symbol
            self.program.python_names[own] = name
            result = self._translated(identity, body, own, node)
        given.narrow = {name for name, of in zip(names, known) if of is not None}
        for at in result.stored:
            self.refuse_to_store(node, args[at])
            self.stored.update({p.name for p in self.params} & {self._name_of(args[at])})
        self.refuse_changes(given.nodes, {self._name_of(args[at]) for at in result.stored})
        return result

    def _symbols(self, arg: Value, again: bool) -> tuple[str | None, ...]:
        """Give what stands for the lengths of an array that is passed; nothing for lengths that a part alone has.

        Nor for lengths that are computed, if the function is called `again` and again, each time with others.
        """
        if not isinstance(arg.type, Array):
            return ()
        if arg.text not in self.parts and (made := self._made(arg.text)) is not None:
            return tuple(length_symbol(length) for length in made.shape)
        lengths = [f"{arg.text}__n{k}" for k in range(arg.type.ndim)]
        symbols = (self.dims.get(length, None if arg.text in self.parts else length) for length in lengths)
        is_part = arg.text in self.parts
        return tuple(None if again and is_part and symbol and symbol[0] == "=" else symbol for symbol in symbols)

    def _translated(self, identity: Any, body: Body, name: str, node: Any) -> Result:
        """Translate a function that is called, and add it to the program."""
        body.identity = identity
        active = self.program.active[identity] = Active(body, name)
        try:
            body.translate()
        except Unknown as missing:
            raise Unknown(missing.identity, node) from None
        finally:
            del self.program.active[identity]
        others = {key: call for key, call in body.unknown.items() if key != identity}
        if others and body.returns is None and body.gives_value():
            raise Unknown(next(iter(others)), node)
        self.unknown.update(dict.fromkeys(others, node))
        result = body.write_static(name, active.calls_itself)
        result.stored = body.stored_places()
        result.hidden, result.arrays, result.given = body.hidden, body.arrays, body.given_back()
        result.texts = [body.param_text(param.name) for param in body.params]
        if self.program.inlines and not active.calls_itself:
            result.inline = inline_of(body, self.program.python_names.get(name, name))
        if active.calls_itself and (body.hidden or body.arrays is not None):
            self._refuse_arrays(name, node)
        if body.arrays is not None:
            result.is_tuple, result.form, result.copied = body.is_tuple, body.form, set(body.copied_of)
        self.program.instances[identity] = result
        return result

    def _refuse_arrays(self, name: str, node: Any) -> NoReturn:
        help = "pass it an array to store to; or make arrays of constant lengths, `np.zeros(64)`"
        name = self.program.python_names.get(name, name)
        self.fail(node, f"`{name}` calls itself, and makes or returns an array", "here", help)

    def stored_places(self) -> set[int]:
        """Give the parameters, by position, that are arrays it stores to."""
        return {at for at, param in enumerate(self.params) if param.name in self.stored}

    def gives_value(self) -> bool:
        """Return whether some `return` of the function has a value."""
        return any(isinstance(n, ast.Return) and not is_nothing(n.value) for n in own_nodes(self.source.tree.body))

    def result_so_far(self, name: str, node: Any) -> Result:
        """Give what is known of the result while the function is translated; `node` is a call of itself."""
        annotated = getattr(self.source.tree, "returns", None)
        if self.gives_arrays or self.hidden:
            self._refuse_arrays(name, node)
        if self.returns is None and self.gives_value():
            told = None if annotated is None else _annotations.told(self)
            types = told if isinstance(told, tuple) else (told,)
            if not all(isinstance(ty, Num) for ty in types):
                raise Unknown(self.identity, node)
            self.returns, self.returns_tuple = list(types), isinstance(told, tuple)
            self.form = Form((None,) * len(types)) if self.returns_tuple else None
        return Result(name, self.returns, self.returns_tuple, self.uniform, self.stored_places(), form=self.form)

    def write_static(self, name: str, calls_itself: bool = False) -> Result:
        """Add the function to the program, for others in it; in front of them what it is, if they call each other."""
        types = self.returns
        shape = "uniform " if self.uniform else ""
        head = "void"
        lines: list[tuple[str, Line]] = []
        at = self.source.line(self.source.tree) if self.source.is_told else None
        body = self.lines if self.source.is_told else [(line, None) for line, _ in self.lines]
        first = []
        if types and self.returns_tuple:
            fields = " ".join(f"{ty.spmd} v{k};" for k, ty in enumerate(types))
            first.append((f"struct {name}_result {{ {fields} }};", at))
            head = f"{shape}{name}_result"
        elif types:
            head = f"{shape}{types[0].spmd}"
        signature = f"{head} {name}({', '.join(self.param_list())})"
        if calls_itself:
            self.program.heads.append([*first, (f"static {signature};", at)])
        else:
            lines.extend(first)
        lines.append((f"static {'' if calls_itself else 'inline '}{signature} {{", at))
        own = f"{shape}{name}_result"
        lines.extend((line.replace("Result__", own), place) for line, place in body)
        lines.append(("}", at))
        self.program.functions.append(lines)
        return Result(name, types, self.returns_tuple, self.uniform, form=self.form)

    def param_list(self, made: bool = True) -> list[str]:
        """Write the parameters, with those of the arrays that the host brings."""
        found = []
        for param in self.params:
            text = self.param_text(param.name)
            if isinstance(param.type, Array):
                constant_ = "" if param.name in self.stored else "const "
                of = param.type.of
                element = self.program.record(of) if isinstance(of, Record) else of.spmd
                found.append(f"{constant_}{'' if param.lanes else 'uniform '}{element} {text}[]")
                found.extend(f"uniform int {text}__n{k}" for k in range(param.type.ndim))
                if param.view is not None:
                    offset = "int64" if self.program.wide else "int"
                    found.append(f"{'uniform ' if param.uniform else ''}{offset} {text}__at")
                    apart = (k for k, step in enumerate(param.view) if step is None)
                    found.extend(f"uniform {offset} {text}__s{k}" for k in apart)
            else:
                spmd = param.type.spmd if param.known is None else "int"
                found.append(f"{'uniform ' if param.uniform else ''}{spmd} {text}")
        found += self.given_params()
        for array in self.hidden if made else ():
            found.append(f"uniform {array.of.spmd} {array.text}[]")
            found.extend(f"uniform int {array.text}__n{axis}" for axis in range(len(array.hosts)))
        return found


def _known(arg: Value, symbols: set[str | None]) -> Known | None:
    """Give what is known of an argument that is an integer of 32 bits, beside lengths with symbols; None of others."""
    if arg.parts is not None or not arg.is_narrow:
        return None
    # Other symbols may be of this function only.
    below, equals = (at if at and (at[0] in symbols or length_of(at[0])) else None for at in (arg.below, arg.equals))
    return Known(arg.low, arg.high, below, equals, arg.apart)


def _is_of_list(form: Form) -> bool:
    return isinstance(form.of, (Columns, Entries))


def _outside_of(tree: Any, lookup: Any) -> Any:
    """Give what finds names from outside, of which a variable of the function is none, whatever is there."""
    own = {
        node.id
        for node in own_nodes(getattr(tree, "body", ()) if isinstance(tree, ast.FunctionDef) else ())
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }

    def look(name: str) -> Any:
        if name in own:
            raise KeyError(name)
        return lookup(name)

    look.names = lambda: _functions.names_of(lookup)  # type: ignore[attr-defined]
    return look if own else lookup


def _assignments(statements: list[ast.stmt]) -> dict[str, int]:
    """Count how often each name is assigned in the text of a function."""
    counts: dict[str, int] = {}
    for node in own_nodes(statements):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


def _changes(node: ast.AST) -> bool:
    """Return whether a statement is `a += …` of a name."""
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


_UNSUPPORTED = {
    "With": (
        "`with`",
        "write what stands in it alone (floats give inf and nan without a warning); or have the `with` around the call",
    ),
    "Try": ("`try`", "kernels cannot catch errors; test before"),
    "Global": ("`global`", "pass what changes as an array"),
    "Nonlocal": (
        "`nonlocal`",
        "return the new value, `n = f(n)`; or keep it in an array, `n = np.zeros(1, np.int64)`, with `n[0] += 1`",
    ),
    "ClassDef": ("`class`", "use structured arrays"),
    "AsyncFunctionDef": ("`async`", None),
    "AsyncFor": ("`async`", "write `for`"),
    "AsyncWith": ("`async`", None),
    "Match": (
        "this `match`",
        "patterns are numbers, texts, `None`, `|`, names, `_` and tuples of these, also with `if`; else use `elif`",
    ),
    "TryStar": ("`try`", "kernels cannot catch errors; test before"),
}
