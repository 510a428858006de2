"""Arrays that kernels make whose lengths are known at run time: `np.zeros(n)`, `b = a * 2`, `np.sum(a, axis=0)`.

The host brings their memory: an array is a further parameter of the kernel, and of every function that makes one, with
its lengths. So these must be known before the call, from what is passed: they are computed there by an expression of
Python (`Value.host`), and the kernel asserts that it finds them the same. (Where they are not, `np.zeros(n)` is memory
of the program, as a list is.) An array that a function makes and gives is
another one for each place where the function is called.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _library
from ._effects import taken_whole
from ._equations import Equations
from ._joins import JOINS
from ._parts import Axis, Part, is_complex_part
from ._plain import parameters
from ._reductions import FUNCTIONS
from ._scopes import Local
from ._trees import children
from ._types import BOOL, FLOAT64, INT, Array, Num, promote, strong
from ._usage import Usage, gives_one_array, gives_tuple, has_effects, of_program, reduces
from ._values import LANE, LONGEST, Value, constant

# Functions that make arrays of given lengths, and those that make them like others.
MAKERS = (np.zeros, np.ones, np.empty, np.full)
MAKERS_LIKE = {np.zeros_like: np.zeros, np.ones_like: np.ones, np.empty_like: np.empty, np.full_like: np.full}
_OF_TWO = (builtins.min, builtins.max)
_COPIES = (np.copy, np.array, np.ascontiguousarray)
AS_THEY_ARE = (np.asarray, np.asanyarray)
_KNOWN_BEFORE = (
    "numbers that are passed, lengths of arrays, and what is computed of them with "
    "+ - * // %, min, max and constant powers"
)


@dataclass
class Made:
    """An array whose memory the host brings.

    Attributes:
        text: its name in the text.
        name: what it is called in Python.
        of: the type of its elements.
        hosts: what gives its lengths before the call.
        symbols: what stands for its lengths.
        is_zero: whether it must be zero at first.
    """

    text: str
    name: str
    of: Num
    hosts: tuple[str, ...]
    symbols: tuple[str, ...]
    is_zero: bool = False


class Arrays(Equations):
    """Translates what makes arrays; `Body` has what they need to know."""

    def array_of_call(self, node: ast.Call | ast.BinOp) -> Value | None:
        """Give the array that a call makes, the same for the same node; None if it makes none."""
        if (listing := self.listing(node)) is not None:
            return listing
        if self.is_of_dict(node):
            return None
        if id(node) not in self.parts_of:
            made = self._of_call(node)
            if made is None:
                return None
            self.parts_of[id(node)] = node, made
        return self.parts_of[id(node)][1]

    def _of_call(self, node: ast.Call | ast.BinOp) -> Value | None:
        if isinstance(node, ast.Subscript):
            return self.expression(node) if self.is_of_histogram(node) else self._chosen(node)
        if isinstance(node, ast.BinOp):
            return self._product(node, node.left, node.right, "dot") if isinstance(node.op, ast.MatMult) else None
        if self.is_method(node):
            return None if self.generator(node.func.value) is not None else self._of_method(node)
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            return None
        function = self.called(node)
        if not (callable(function) or isinstance(function, Local)) or type(function).__hash__ is None:
            return None
        if function in FUNCTIONS and node.args:
            how = FUNCTIONS[function]
            along = self.axis_of(node, node.args[1:], how)
            return None if along is None else self.along(node, how, node.args[0], along)
        if function is np.linalg.norm:
            return self.norm_along(node)
        if function in MAKERS or function in MAKERS_LIKE:
            fill, of, lengths = self.makes(node)
            values = [constant(v) if isinstance(v, int) else v for v in lengths]
            return self.new_array(node, of, values, fill, None, True)
        listed = self.listed(node)
        if listed is not None:
            return self._unnamed(node, listed)
        if function in (np.array, np.asarray) and (made := self.comprehended(node)) is not None:
            return made
        if self.gives_one_array(node, function):
            return self._array_given(node, function)
        if function in (np.array, np.asarray) and (made := self.copied_list(node)) is not None:
            return made
        if function in AS_THEY_ARE and len(node.args) == 1 and not node.keywords:
            return self.as_array(node.args[0])
        if function in (*AS_THEY_ARE, np.array) and (dtype := dtype_of(node)) is not None:
            return self._in_type(node, function, self.annotation(dtype))
        if function in _COPIES and len(node.args) == 1 and not node.keywords:
            is_other = function is np.array and not self.makes_elements(node.args[0])
            return None if is_other else self.copied(node, node.args[0])
        if function is np.sort and len(node.args) == 1 and self._has_kind_alone(node):
            made = self.copied(node, node.args[0])
            self.sort_in_place(node, made)
            return made
        if function is np.unique and not self.gives_several_arrays(node, function):
            return self.distinct(node)
        if (found := self.sought(node, function)) is not None:
            return found
        found = self.rearranged(node, function) or self.of_equations(node, function)
        if found is not None:
            return found
        if function is np.ravel and len(node.args) == 1 and not node.keywords and self.makes_elements(node.args[0]):
            made = self.array_of(node.args[0]) is None
            return self.copied_in_a_row(node, node.args[0]) if made else self.flattened(node, node.args[0])
        if function is np.reshape and len(node.args) == 2 and not node.keywords:
            return self.reshaped(node, node.args[0], node.args[1:])
        if function is np.transpose and len(node.args) == 1 and not node.keywords:
            return self.turned(node, node.args[0])
        if function in JOINS:
            return self.joined(node, function)
        if function is np.append and len(node.args) == 2 and not node.keywords:
            return self._appended(node)
        if function is np.arange:
            return self.counting(node)
        if function is np.linspace and not self.gives_several_arrays(node, function):
            return self.spread(node)[0]
        if function in (np.cumsum, np.cumprod):
            return self._cumulative(node, "+" if function is np.cumsum else "*")
        if function is np.outer and len(node.args) == 2 and not node.keywords:
            return self._product(node, *node.args, "outer")
        if function in (np.dot, np.matmul) and len(node.args) == 2 and not node.keywords:
            return self._product(node, *node.args, "dot")
        if self._is_of_one(node, function):
            return None
        if _library.makes_array(function):
            result = self._of_library(node, _library.find(function))
            return result if isinstance(result.type, Array) else None
        return None

    def _appended(self, node: ast.Call) -> Value:
        """Translate `np.append(a, b)`, of numbers and of the elements of arrays in a row."""
        both: list[ast.expr] = []
        for at in node.args:
            if self.may_be_several(at):
                array = self.in_a_row(at, self.numbers_at(at))
            else:
                value = self.keep(self.number(at))
                array = self._unnamed(node, ([value], strong(value.type), (1,)))
            both.append(self.standing_for(at, array))
        given = ast.copy_location(ast.Tuple(both, ast.Load()), node)
        return self.joined(ast.copy_location(ast.Call(node.func, [given], []), node), np.concatenate)

    def _in_type(self, node: ast.Call, function: Any, of: Num) -> Value | None:
        """Translate `np.asarray(a, np.float32)`, which is the array itself if it has that type; None of a number."""
        source, of = node.args[0], strong(of)
        found = self.array_of(source)
        if found is not None and found.type.of == of and function in AS_THEY_ARE:
            return found
        return self.copied(node, source, of) if found is not None or self.makes_elements(source) else None

    def _has_kind_alone(self, node: ast.Call) -> bool:
        """Return whether a sort is given nothing but the way it is made, `kind="stable"`."""
        kinds = [k.value.value for k in node.keywords if k.arg == "kind" and isinstance(k.value, ast.Constant)]
        return len(kinds) == len(node.keywords) and all(kind in _library.SORTS for kind in kinds)

    def _is_of_one(self, node: ast.Call, function: Any) -> bool:
        """Return whether `np.cov` and `np.corrcoef` are of one vector, of which they give a number."""
        if function not in (np.cov, np.corrcoef) or len(node.args) != 1 or any(k.arg == "y" for k in node.keywords):
            return False
        array = self.as_array(self.as_listed(node.args[0]))
        return array is not None and array.type.ndim == 1

    def _of_method(self, node: ast.Call) -> Value | None:
        source, name = node.func.value, node.func.attr
        if name == "dot" and len(node.args) == 1 and not node.keywords:
            return self._product(node, source, node.args[0], "dot")
        if name in ("cumsum", "cumprod") and self.makes_elements(source):
            given = ast.copy_location(ast.Call(node.func, [source, *node.args], node.keywords), node)
            return self._cumulative(given, "+" if name == "cumsum" else "*")
        if name in ("ravel", "flatten") and not node.args and not node.keywords and self.makes_elements(source):
            is_copied = name == "flatten" or self.array_of(source) is None
            return self.copied_in_a_row(node, source) if is_copied else self.flattened(node, source)
        if name == "reshape" and node.args and not node.keywords and self.makes_elements(source):
            return self.reshaped(node, source, node.args)
        if name == "transpose" and not node.args and not node.keywords:
            return self.turned(node, source)
        if name == "argsort" and self.makes_elements(source):
            given = ast.copy_location(ast.Call(node.func, [source, *node.args], node.keywords), node)
            return self._of_library(given, _library.find(np.argsort))
        if name in ("repeat", "diagonal") and self.makes_elements(source):
            given = ast.copy_location(ast.Call(node.func, [source, *node.args], node.keywords), node)
            return self.rearranged(given, getattr(np, name))
        if name in FUNCTIONS.values():
            along = self.axis_of(node, node.args, name)
            if along is None or not any(True for _ in self._arrays_in(source)):
                return None
            return self.along(node, name, source, along)
        if name not in ("copy", "astype") or not self.makes_elements(source):
            return None
        if name == "copy":
            if node.args or node.keywords:
                self.fail(node, "`copy` takes nothing in a kernel", "here", f"write `{ast.unparse(source)}.copy()`")
            return self.copied(node, source)
        if len(node.args) != 1 or node.keywords:
            self.fail(node, "`astype` takes a type of numbers", "here")
        return self.copied(node, source, strong(self.annotation(node.args[0])))

    def makes_elements(self, node: ast.expr) -> bool:
        """Return whether an expression is one of the elements of arrays, or an array itself."""
        if id(node) in self.elements or self.is_reduction(node):
            return False
        root = node
        while isinstance(root, (ast.Subscript, ast.Attribute)):
            root = root.value
        if isinstance(root, ast.Name) and root is not getattr(node, "func", None) and not self.is_array_name(root):
            # A variable may have no value yet, which is told where it is read.
            return False
        if is_complex_part(node):
            return self.makes_elements(node.value)
        if isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
            return self.array_of(node) is not None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return self.array_of(node) is not None
        if isinstance(node, ast.Call):
            if self.array_of(node) is not None:
                return True
            if self.is_method(node):
                if self.generator(node.func.value) is not None:
                    return False
                return self.is_method_of_elements(node) and self.makes_elements(node.func.value)
            function = self.called(node)
            if function in _OF_TWO or any(keyword.arg is None for keyword in node.keywords):
                return False
            if self.gives_several_arrays(node, function):
                return False
            is_known = self.is_elementwise(function) or _library.find(function) is not None
            if _library.takes_array(function) or self._is_of_one(node, function):
                return False
            return is_known and any(map(self.is_of_elements, node.args))
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return False
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
            return any(self.is_of_elements(child) for child in children(node) if isinstance(child, ast.expr))
        return False

    def is_of_elements(self, node: ast.expr) -> bool:
        """Return whether an operand is one of elements, also what a function of the program makes of each of them."""
        if self.makes_elements(node):
            return True
        if id(node) in self.elements or not isinstance(node, ast.Call):
            return False
        function = None if self.is_method(node) else self.called(node)
        text = of_program(function)
        if text is None or has_effects(text[0]) or self.takes_arrays(node, function):
            return False
        return gives_one_array(function, self.given_arrays(node, function))

    def is_array_name(self, node: ast.Name) -> bool:
        """Return whether a name stands for an array, also for one from outside of the kernel."""
        if self._names_array(node.id):
            return True
        if node.id in self.local_functions or any(node.id in region.names for region in self.regions):
            return False
        return self.outside_array(node) is not None

    def takes_arrays(self, node: ast.Call, function: Any) -> bool:
        """Return whether a function of Python is given arrays, and uses them as such: it does not go by elements."""
        if _library.takes_array(function):
            return True
        text = of_program(function)
        if text is None:
            return False
        args = [*node.args, *(keyword.value for keyword in node.keywords)]
        arrays = [
            arg for arg in args if (self.array_of(arg) is not None if _may_be_array(arg) else self._computes(arg))
        ]
        if not arrays:
            return False
        tree, lookup = text
        names = [arg.arg for arg in parameters(tree)]
        indexed = set(names) if reduces(tree, lookup, names) else Usage(tree, lookup).indexed
        indexed |= taken_whole(function)
        given = [*zip(names, node.args), *((keyword.arg, keyword.value) for keyword in node.keywords)]
        return any(name in indexed and arg in arrays for name, arg in given)

    def _computes(self, node: ast.expr) -> bool:
        """Return whether an argument is computed of the elements of arrays, which makes it an array, too."""
        return isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)) and self.is_of_elements(node)

    def gives_one_array(self, node: ast.Call, function: Any) -> bool:
        """Return whether a call of a function gives an array that it makes."""
        if gives_one_array(function) or not self.is_uniform_here() or not self.takes_arrays(node, function):
            return gives_one_array(function)
        return gives_one_array(function, self.given_arrays(node, function))

    def _array_given(self, node: ast.Call, function: Any) -> Value | None:
        """Give the array that a function returns by its text; None if it gives numbers for arguments of these types."""
        value = self._own(node, function, False)
        if value.parts is None and isinstance(value.type, Array):
            return value
        # It has been called.
        self.computed.append(node)
        self.elements[id(node)] = self.keep(value)
        self.called_before.add(id(node))
        return None

    def gives_tuple(self, function: Any) -> bool:
        """Return whether something is a function of the program that returns a tuple."""
        return gives_tuple(function)

    # Making them.

    def _unnamed(self, node: ast.Call, listed: tuple[list[Value], Num, tuple[int, ...]]) -> Value:
        """Make an array of listed numbers within an expression."""
        if self.is_uniform_here():
            return self.brought(node, *listed)
        if self.in_arm:
            self.fail(node, "an array is made in what may not be computed", "here", "make it in a statement before")
        # Each lane has it as it has variables, but without a name in Python.
        name = self.temporary("listed")
        self.regions[-1].names.add(name)
        self.made[name] = 1
        own = ast.copy_location(ast.Name(name, ast.Load()), node)
        self.list_array(own, *listed)
        return self.array_of(own)

    def among_given(self, node: ast.Subscript) -> Value | None:
        """Give an array of the tuple that a function of the program gives, `f(a)[0]`; None if it is something else."""
        call, at = node.value, node.slice
        if not isinstance(call, ast.Call) or not isinstance(at, ast.Constant) or self.is_method(call):
            return None
        if not isinstance(call.func, (ast.Name, ast.Attribute)) or not gives_tuple(self.called(call)):
            return None
        if id(call) not in self.parts_of:
            # It is called once.
            self.parts_of[id(call)] = call, self.expression(call)
        parts = self.parts_of[id(call)][1].parts
        found = parts[at.value] if parts is not None and at.value in range(len(parts)) else None
        return found if found is not None and isinstance(found.type, Array) else None

    def new_array(
        self,
        node: Any,
        of: Num,
        lengths: list[Value],
        fill: Value | None,
        name: str | None = None,
        own: bool = False,
        is_set: bool = False,
    ) -> Value:
        """Make an array, whose elements are set to a number, if there is one.

        Where each element runs by itself, it may be its `own`: a column of one that has as many as a gang has lanes.
        What elements before have left there is never seen: it is zero, or `is_set` by who asks for it.
        """
        made = self.made_now(node, of, lengths, fill, name or ast.unparse(node))
        if made is not None:
            return made
        if own and not self.is_uniform_here() and self.program.brings_memory:
            return self._of_each_lane(node, of, lengths, fill, name, is_set)
        if not self.is_uniform_here():
            help = "make it before the `foreach`; or make one of zeros, `t = np.zeros(n)`, and store to it"
            if not self.program.brings_memory:
                help = "give the greatest length it may have as a constant: `np.zeros(64)`"
            self.fail(node, "where each element runs by itself, this makes no array", "each would have its own", help)
        return self._from_host(node, of, lengths, fill, name)

    def _of_each_lane(
        self, node: Any, of: Num, lengths: list[Value], fill: Value | None, name: str | None, is_set: bool
    ) -> Value:
        """Make an array that each lane has, next to those of the others."""
        for length in lengths:
            if not length.uniform or length.before is None:
                most = f"give the greatest length that some element needs, of {_KNOWN_BEFORE}"
                if not self.in_foreach() and self.identity is None:
                    most += (
                        "; numbers that are the same for all elements are annotated, `n: spmdvm.uniform[spmdvm.int64]`"
                    )
                note = (
                    "this differs from element to element" if not length.uniform else "this is computed by the kernel"
                )
                self.fail(node, "the lengths of an array of a kernel are known before it is called", note, most)
        width = Value("programCount", INT, True, 1, 64, host="_width")
        made = self._from_host(node, of, [*lengths, width], None, name)
        part, axes = self.temporary("part"), [Axis(Value("0", INT, True, 0, 0, 0), 1) for _ in lengths]
        for axis in range(len(lengths)):
            length = self.dim(made.text, axis)
            self.dims[f"{part}__n{axis}"] = length.equals[0]
            self.emit(f"const uniform int {part}__n{axis} = {length.text};")
        below = (self.dim(made.text, len(lengths)).equals[0], 0)
        lane = Value("programIndex", INT, False, 0, 63, below=below, apart=frozenset([LANE]))
        self.parts[part] = Part(made, made.text, (*axes, Axis(lane, None)))
        array = Value(part, Array(of, len(lengths)), True)
        if is_set:
            return array
        counters = [self.temporary("at") for _ in lengths]
        for axis, counter in enumerate(counters):
            self.emit(f"for (uniform int {counter} = 0; {counter} < {self.dim(part, axis).text}; ++{counter}) {{")
            self.indent += 1
        indices = [replace(index, uniform=True) for index in self._indices_at(array, counters)]
        place, _ = self.place_of(array, indices)
        self.emit(f"{place} = {(fill or self.cast(constant(0), of, node)).text};")
        for _ in counters:
            self._end(False)
        return array

    def _from_host(self, node: Any, of: Num, lengths: list[Value], fill: Value | None, name: str | None) -> Value:
        """Make an array whose memory the host brings."""
        if self.in_arm:
            self.fail(node, "an array is made in what may not be computed", "here", "make it in a statement before")
        hosts = []
        for length in lengths:
            if length.before is None:
                self.fail(
                    node,
                    "the lengths of an array of a kernel are known before it is called",
                    "a length depends on what the kernel computes",
                    f"give the greatest length it may have, of {_KNOWN_BEFORE}; a part can be returned: `out[:count]`"
                    + "; only arrays of one dimension, by `np.zeros(n)` and its like, have any" * (len(lengths) > 1),
                )
            hosts.append(length.before)
        text = self.temporary(self.made_text(name or "made"))
        once = self.identity is None and not self.loops
        is_zero = fill is not None and fill.const == 0
        for axis, length in enumerate(lengths):
            own = f"{text}__n{axis}"
            if length.const is not None:
                self.dims[own] = f"{int(length.const)} elements"
                continue
            symbol = length.equals[0] if length.equals is not None and length.equals[1] == 0 else f"= {length.host}"
            self.dims[own] = symbol
            self.program.hosts.setdefault(symbol, length.host)
            # What is passed is what the host has seen; what is computed of that might have another value there.
            if not length.host.isidentifier() or length.low < 0:
                test = f"{length.text} >= 0" if length.host.isidentifier() else f"{length.text} == {own}"
                self.demand(node, test, f"the length of `{ast.unparse(node)}` is not negative")
        symbols = tuple(self.dims[f"{text}__n{axis}"] for axis in range(len(lengths)))
        self.hidden.append(Made(text, name or ast.unparse(node), of, tuple(hosts), symbols, once and is_zero))
        self.program.python_variables[text] = self.hidden[-1].name
        value = Value(text, Array(of, len(lengths)), True)
        if fill is not None and not (once and is_zero):
            counters, loops = self._each(node, value)
            place, _ = self.place_of(value, counters)
            self.emit(f"{place} = {fill.text};")
            self._end(loops)
        return value

    def _each(self, node: Any, array: Value) -> tuple[list[Value], bool]:
        """Begin a loop over all elements of an array; give the indices."""
        lengths = [self.dim(array.text, axis) for axis in range(array.type.ndim)]
        counters = [self.temporary("at") for _ in lengths]
        self._begin(node, counters, lengths, True)
        return self._indices_at(array, counters), True

    def _indices_at(self, array: Value, counters: list[str]) -> list[Value]:
        return [
            Value(counter, INT, False, 0, LONGEST, below=(self.dim(array.text, axis).equals[0], 0))
            for axis, counter in enumerate(counters)
        ]

    def copied(self, node: Any, source: ast.expr, of: Num | None = None, name: str | None = None) -> Value:
        """Make an array of the elements of an expression, as numpy does."""
        outer = self.elements
        self.elements = dict(outer)
        for part in self._whole(source):
            self.elements[id(part)] = self.keep(self.number(part))
        found = list(self._arrays_in(source))
        if not found:
            self.elements = outer
            self.fail(source, "an array is copied", self.kind_of(source))
        likes = self.broadcast(found)
        lengths = [self.dim(like.text, axis) for like, axis in likes]
        self.same_lengths(found, lengths)
        together = self.is_uniform_here()
        for part in self._numbers(source):
            self.elements[id(part)] = self.keep(self.number(part))
        # (In a function that is given such an array it is no list.)
        is_open = any(self.most(*like).before is None for like in likes)
        is_open |= len(lengths) == 1 and any(self.is_of_list(array) for _, array in found)
        made = None
        if is_open and together and not self.in_arm:
            made = self.made_now(node, FLOAT64, lengths, None, name or ast.unparse(node), True)
        if made is None:
            made = self._long_enough(node, likes, lengths, name)
        counters = [self.temporary("at") for _ in lengths]
        loops = self._begin(node, counters, lengths, together)
        self.elements.update((id(part), self.element_at(array, counters, not together)) for part, array in found)
        value = self.number(source)
        ty = of or strong(value.type)
        place = self.element_at(made, counters, not together).text
        self.emit(f"{place} = {(self.convert(node, value, ty) if of else self.cast(value, ty, node)).text};")
        self.elements = outer
        for _ in range(loops):
            self._end(together)
        return self.in_type(made, ty)

    def in_type(self, made: Value, of: Num) -> Value:
        """Give an array that has been made before its type was known."""
        root = self._root_of(made.text)
        for host in self.hidden:
            if host.text == root:
                host.of = of
        if self.is_of_list(made):
            self.list_in_type(root, of)
        return replace(made, type=Array(of, made.type.ndim))

    def copied_in_a_row(self, node: ast.Call, source: ast.expr) -> Value:
        """Make an array of one dimension of the elements of an expression, row after row."""
        return self.flattened(node, self.standing_for(node, self.copied(source, source)))

    def sort_in_place(self, node: ast.Call, array: Value) -> None:
        """Write a call that puts the elements of an array in order."""
        if array.type.ndim != 1:
            help = "sort rows one after another: `for i in range(len(a)): a[i].sort()`"
            self.fail(node, "arrays of one dimension are sorted in a kernel", f"`{array.type}`", help)
        if self.is_of_list(array):
            self.of_values(node, _library.sort_list, array)
            return
        other = self._long_enough(node, [(array, 0)], [self.dim(array.text, 0)], None, array.type.of)
        self.of_values(node, _library.sort_in_place, array, other)

    def _chosen(self, node: ast.Subscript) -> Value:
        """Translate `a[a > 2]`: an array that is long enough, and the part of it that has been filled."""
        array, mask = self.array_of(node.value), node.slice
        several = self.chosen_of_several(node, array)
        if several is not None:
            return several
        if self.takes(node):
            call = ast.copy_location(ast.Call(node.value, [node.value, node.slice], []), node)
            return self._of_library(call, _library.find(np.take))
        outer = self.elements
        self.elements = {**outer, **{id(part): self.keep(self.number(part)) for part in self._whole(mask)}}
        found = list(self._arrays_in(mask))
        if array.type.ndim != 1 or not isinstance(array.type.of, Num) or any(a.type.ndim != 1 for _, a in found):
            self.fail(node, "a mask chooses elements of arrays of one dimension", f"`{array.type}`", "write the loops")
        length = self.dim(array.text, 0)
        self.same_lengths(found, [length])
        made = self.new_array(node, array.type.of, [length], None)
        count, counters = self.temporary("count"), [self.temporary("at")]
        self.emit(f"uniform int {count} = 0;")
        self._begin(node, counters, [length], False)
        self.elements.update((id(part), self.element_at(each, counters, True)) for part, each in found)
        test = self.number(mask)
        if test.type != BOOL:
            self.fail(mask, "arrays of indices do not index in a kernel", "these are numbers", "loop over them")
        index = [Value(counters[0], INT, True, 0, LONGEST, below=(length.equals[0], 0))]
        text, _ = self.place_of(array, index)
        self.emit(f"if ({test.text}) {{ {self._root_of(made.text)}[{count}] = {text}; ++{count}; }}")
        self._end(False)
        self.elements = outer
        return self.first_of(node, made, Value(count, INT, True, 0, LONGEST))

    def first_of(self, node: Any, array: Value, count: Value) -> Value:
        """Give the part of an array of one dimension that has so many elements; of a list, what is left of it."""
        if self.is_of_list(array):
            self.emit(f"{self.dim(array.text, 0).text} = (int){count.text};")
            return array
        name = self.temporary("part")
        if not count.uniform:
            self.differing.add(f"{name}__n0")
        self.emit(f"const {'uniform ' if count.uniform else ''}int {name}__n0 = (int){count.text};")
        self.parts[name] = Part(array, self._name_of(array), (Axis(Value("0", INT, True, 0, 0, 0), 1),))
        return Value(name, array.type, array.uniform)

    def _cumulative(self, node: ast.Call, op: str) -> Value:
        """Translate `np.cumsum` and `np.cumprod`, one element after another as numpy does."""
        if len(node.args) != 1 or node.keywords:
            help = "loop over rows: `out[i] = np.cumsum(a[i])`"
            self.fail(node, "sums up to each element are of one array in a kernel", "something else here", help)
        source, outer = node.args[0], self.elements
        self.elements = {**outer, **{id(part): self.keep(self.number(part)) for part in self._whole(source)}}
        found = list(self._arrays_in(source))
        if not found or any(array.type.ndim != 1 for _, array in found):
            note = (
                f"this has {max(array.type.ndim for _, array in found)} dimensions" if found else self.kind_of(source)
            )
            self.fail(source, "sums up to each element are of arrays of one dimension in a kernel", note)
        lengths = [self.dim(found[0][1].text, 0)]
        self.same_lengths(found, lengths)
        made = self.new_array(node, FLOAT64, lengths, None)
        start, counters, line = len(self.lines), [self.temporary("at")], self.at
        self._begin(node, counters, lengths, False)
        self.elements.update((id(part), self.element_at(array, counters, True)) for part, array in found)
        value = self.number(source)
        ty, first = self._kind(node, "sum", value)
        total = self.temporary("sum")
        self.emit(f"{total} = {total} {op} {self.cast(value, ty, node).text};")
        place, _ = self.place_of(made, [replace(index, uniform=True) for index in self._indices_at(made, counters)])
        self.emit(f"{place} = {total};")
        self._end(False)
        first = first if op == "+" else self.cast(constant(1), ty, node).text
        self.lines.insert(start, ("    " * self.indent + f"uniform {ty.spmd} {total} = {first};", line))
        self.elements = outer
        return self.in_type(made, ty)

    def _product(self, node: Any, left: ast.expr, right: ast.expr, how: str) -> Value | None:
        """Translate products of matrices and vectors that are arrays; None if it is a number."""
        arrays = [self.array_of(side) for side in (left, right)]
        if None in arrays and all(
            array is not None or self.makes_elements(side) for array, side in zip(arrays, (left, right))
        ):
            # What is computed of arrays is computed once.
            for k, side in enumerate((left, right)):
                if arrays[k] is None:
                    arrays[k] = self.copied(side, side)
                    self.parts_of[id(side)] = side, arrays[k]
        if None in arrays:
            return None
        if how == "outer":
            arrays = [self.in_a_row(side, array) for side, array in zip((left, right), arrays)]
        a, b = arrays
        dims = (a.type.ndim, b.type.ndim)
        if how == "dot" and dims == (1, 1):
            return None
        if dims not in ([(1, 1)] if how == "outer" else [(2, 2), (2, 1), (1, 2)]):
            self.fail(
                node,
                "products in kernels are of vectors and matrices",
                f"these have {dims[0]} and {dims[1]} dimensions",
            )
        ty = promote(a.type.of, b.type.of)
        if ty is None or ty == BOOL:
            self.fail(
                node, "these have no product", f"`{a.type}` and `{b.type}`", "convert them: `a.astype(np.float64)`"
            )
        ty = strong(ty)
        (rows, *inner), (first, *columns) = ([self.dim(x.text, k) for k in range(x.type.ndim)] for x in arrays)
        if how == "dot":
            if dims[0] == 1:
                rows, inner = None, [rows]
            if inner[0].equals != first.equals:
                self.demand(node, f"{inner[0].text} == {first.text}", "the lengths that a product sums over are equal")
        else:
            columns = [first]
        lengths = [*([] if rows is None else [rows]), *columns]
        likes = [*([] if rows is None else [(a, 0)]), *((b, b.type.ndim - 1) for _ in columns)]
        made = self._long_enough(node, likes, lengths, None, ty, False)
        counters = [self.temporary("at") for _ in lengths]
        self._begin(node, counters, lengths, True)
        index = self._indices_at(made, counters)
        i, j = (index[0] if rows is not None else None), (index[-1] if columns else None)
        if how == "outer":
            x, y = ([i], [j])
            text = self._times(node, (a, x), (b, y), ty)
        else:
            k, total = self.temporary("k"), self.temporary("sum")
            self.emit(f"varying {ty.spmd} {total} = {self.cast(constant(0), ty, node).text};")
            self.emit(f"for (uniform int {k} = 0; {k} < {inner[0].text}; ++{k}) {{")
            along = Value(k, INT, True, 0, LONGEST, below=(inner[0].equals[0], 0))
            below = Value(k, INT, True, 0, LONGEST, below=(first.equals[0], 0))
            product = self._times(
                node, (a, [along] if i is None else [i, along]), (b, [below] if j is None else [below, j]), ty
            )
            self.emit(f"    {total} = {total} + {product};")
            self.emit("}")
            text = total
        place, _ = self.place_of(made, index)
        self.emit(f"{place} = {text};")
        self._end(True)
        return made

    def _times(self, node: Any, one: tuple[Value, list[Value]], other: tuple[Value, list[Value]], ty: Num) -> str:
        texts = []
        for array, index in (one, other):
            text, uniform = self.place_of(array, index)
            texts.append(self.cast(Value(text, array.type.of, uniform), ty, node).text)
        return " * ".join(texts)

    def _long_enough(
        self,
        node: Any,
        likes: list[tuple[Value, int]],
        lengths: list[Value],
        name: str | None,
        of: Num = FLOAT64,
        own: bool = True,
    ) -> Value:
        """Make an array of some lengths; of a part whose lengths are computed, a part of one as long as its array."""
        most = [self.most(like, axis) for like, axis in likes]
        is_open = any(length.before is None for length in most) and self.is_uniform_here()
        if is_open or all(length.before is not None for length in lengths):
            return self.new_array(node, of, lengths, None, name, own, True)
        whole = self.new_array(node, of, most, None, name, own, True)
        part = self.temporary("part")
        for axis, length in enumerate(lengths):
            self._same_length(f"{part}__n{axis}", length)
        axes = tuple(Axis(Value("0", INT, True, 0, 0, 0), 1) for _ in lengths)
        self.parts[part] = Part(whole, whole.text, axes)
        return Value(part, whole.type, True)

    def most(self, array: Value, axis: int) -> Value:
        """Give a length that is known before the call, and as long as one of an array at least; else its own."""
        length = self.dim(array.text, axis)
        while length.before is None and array.text in self.parts:
            part = self.parts[array.text]
            if part.is_flat:
                break
            kept = [k for k, taken in enumerate(part.axes) if taken.step is not None]
            axis = (kept[::-1] if part.is_turned else kept)[axis]
            array = part.array
            length = self.dim(array.text, axis)
        return length

    def copy_of(self, node: Any, value: Value, of: Num | None = None) -> Value:
        """Make a copy of an array, or one of its elements in another type."""
        return self.copied(node, self.standing_for(node, value), of)


def _may_be_array(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Subscript))


def dtype_of(node: ast.Call) -> ast.expr | None:
    """Give the type with which `np.array(a, np.float32)` and its like are called; None if there is more, or none."""
    named = [keyword.value for keyword in node.keywords if keyword.arg == "dtype"]
    given = [*node.args[1:], *named]
    is_alone = len(given) == 1 and len(named) == len(node.keywords)
    return given[0] if is_alone and node.args else None
