from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from inspect import Signature
from os import PathLike
from pathlib import Path
from typing import Any, Literal, final

from numpy.typing import NDArray

from ._errors import Diagnostic

__all__ = ["Function", "Globals", "Module", "__version__", "_rebuild", "compile", "compile_file"]

__version__: str

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
    def disassemble(self) -> str: ...
    def explain(self, line: int | None = None, *, ir: bool = False, asm: bool = False) -> str: ...
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
    check: bool = False,
    include_paths: Iterable[str | PathLike[str]] = (),
    defines: Mapping[str, object] = {},
    fuel: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    task_threads: int | None = None,
    jit: Mapping[str, int | bool | str] = {},
    hints: bool = False,
) -> Module: ...
def compile_file(
    path: str | PathLike[str],
    *,
    sources: Iterable[str | PathLike[str]] = (),
    width: Literal[1, 2, 4, 8, 16, 32, 64, "native"] = 16,
    engine: Literal["auto", "interp", "ir", "clif", "x86"] = "auto",
    fp: Literal["contract", "strict", "fast"] = "contract",
    check: bool = False,
    include_paths: Iterable[str | PathLike[str]] = (),
    defines: Mapping[str, object] = {},
    fuel: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    task_threads: int | None = None,
    jit: Mapping[str, int | bool | str] = {},
    hints: bool = False,
) -> Module: ...
def _rebuild(
    text: tuple[str, str],
    choices: tuple[int, str, str],
    include_paths: list[Path],
    names: tuple[list[tuple[str, str]], list[tuple[str, str]]],
    bounds: tuple[int | None, float | None, int | None, int | None],
    others: list[tuple[str, str]] = ...,
) -> Module: ...
