from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from inspect import Signature
from os import PathLike
from pathlib import Path
from typing import Any, Generic, Literal, NoReturn, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray

from ._errors import Diagnostic, Finding
from ._explain import Explanation
from ._profile import Profile, Timeline
from ._step import Stepper

__all__ = [
    "Function",
    "Globals",
    "Module",
    "Pointer",
    "_Stepping",
    "__version__",
    "_compile_silently",
    "_main",
    "_rebuild",
    "compile",
    "compile_file",
    "per_lane",
]

__version__: str

# Functions by name (callables, function pointers), or the path of a shared library.
_Host = Mapping[str, Callable[..., Any]] | str | PathLike[str]

@final
class Function:
    @property
    def __name__(self) -> str: ...
    @property
    def __qualname__(self) -> str: ...
    @property
    def __signature__(self) -> Signature: ...
    def __call__(
        self,
        *args: Any,
        out: NDArray[Any] | None = None,
        where: Any = True,
        threads: int = 1,
        progress: bool | Callable[[int, int | None], object] = False,
        **kwargs: Any,
    ) -> Any: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Globals:
    def __getitem__(self, name: str, /) -> NDArray[Any]: ...
    def __setitem__(self, name: str, value: Any, /) -> None: ...
    def __delitem__(self, name: str, /) -> None: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def keys(self) -> KeysView[str]: ...
    def values(self) -> ValuesView[NDArray[Any]]: ...
    def items(self) -> ItemsView[str, NDArray[Any]]: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    def update(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any) -> None: ...

@final
class Pointer:
    @property
    def address(self) -> int: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

_Function = TypeVar("_Function", bound=Callable[..., Any])

@final
class per_lane(Generic[_Function]):
    def __new__(cls, function: _Function, /) -> per_lane[_Function]: ...
    @property
    def __wrapped__(self) -> _Function: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

_Record = TypeVar("_Record", NDArray[Any], np.void)

@final
class Module:
    @property
    def exports(self) -> tuple[str, ...]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def globals(self) -> Globals: ...
    @property
    def source(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def width(self) -> int: ...
    @overload
    def bind(self, target: NDArray[Any], /) -> Pointer: ...
    @overload
    def bind(self, target: _Record, /, **fields: NDArray[Any] | Pointer | None) -> _Record: ...
    def disassemble(self) -> str: ...
    @overload
    def explain(
        self, line: None = None, *, ir: bool = False, asm: bool = False, profile: Profile | None = None
    ) -> Explanation: ...
    @overload
    def explain(self, line: int, *, ir: bool = False, asm: bool = False, profile: Profile | None = None) -> str: ...
    def profile(self, function: str | Function, /, *args: Any, **kwargs: Any) -> Profile: ...
    def stepper(self, function: str | Function, /, *args: Any, **kwargs: Any) -> Stepper: ...
    def timeline(self, function: str | Function, /, *args: Any, **kwargs: Any) -> Timeline: ...
    def report(self) -> list[Finding]: ...
    def stats(self) -> dict[str, Any]: ...
    def __getattr__(self, name: str) -> Function: ...
    def __getitem__(self, name: str, /) -> Function: ...
    def __contains__(self, name: str, /) -> bool: ...
    def __dir__(self) -> list[str]: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def compile(
    source: str
    | PathLike[str]
    | list[str | PathLike[str] | tuple[str, str]]
    | tuple[str | PathLike[str] | tuple[str, str], ...],
    *,
    width: Literal[1, 2, 4, 8, 16, 32, 64, "native"] = 16,
    engine: Literal["auto", "interp", "ir", "clif", "x86"] = "auto",
    fp: Literal["contract", "strict", "fast"] = "contract",
    check: bool | str | Iterable[str] = False,
    include_paths: Iterable[str | PathLike[str]] = (),
    sandbox_includes: bool | None = None,
    defines: Mapping[str, object] = {},
    fuel: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    task_threads: int | None = None,
    jit: Mapping[str, int | bool | str] = {},
    hints: bool = False,
    no_warn: Iterable[str] = (),
    host: _Host | Sequence[_Host] | None = None,
) -> Module: ...
def compile_file(
    path: str | PathLike[str],
    *,
    sources: Iterable[str | PathLike[str]] = (),
    width: Literal[1, 2, 4, 8, 16, 32, 64, "native"] = 16,
    engine: Literal["auto", "interp", "ir", "clif", "x86"] = "auto",
    fp: Literal["contract", "strict", "fast"] = "contract",
    check: bool | str | Iterable[str] = False,
    include_paths: Iterable[str | PathLike[str]] = (),
    sandbox_includes: bool | None = None,
    defines: Mapping[str, object] = {},
    fuel: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    task_threads: int | None = None,
    jit: Mapping[str, int | bool | str] = {},
    hints: bool = False,
    no_warn: Iterable[str] = (),
    host: _Host | Sequence[_Host] | None = None,
) -> Module: ...
def _compile_silently(source: list[tuple[str, str]], **options: Any) -> Module: ...

@final
class _Stepping:
    def __new__(cls, keep: int) -> _Stepping: ...
    def serve(
        self,
        module: Module,
        function: str | Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None,
        translation: Any = None,
    ) -> Any: ...
    def ended(self) -> None: ...
    def close(self) -> None: ...
    def ask(self, line: str | None) -> tuple[Any, ...] | None: ...
    def answer(self) -> tuple[Any, ...] | None: ...

def _main(args: Sequence[str | PathLike[str]]) -> int: ...
def _rebuild(
    text: tuple[str, str],
    choices: tuple[int, str, str, bool | None],
    include_paths: list[Path],
    names: tuple[list[tuple[str, str]], list[tuple[str, str]], list[str]],
    bounds: tuple[int | None, float | None, int | None, int | None],
    others: list[tuple[str, str]] = ...,
) -> Module: ...
