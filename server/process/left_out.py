"""Modules that libraries import for what no server does, and that are not loaded for that."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any


class LeftOut:
    """Stands for anything of such a module; whoever calls it learns that it was not loaded."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise RuntimeError."""
        raise RuntimeError(f"{self._name} is left out of a server: nothing was to call it")


class _Module(ModuleType):
    """Has every name that can be imported of it."""

    def __getattr__(self, name: str) -> LeftOut:
        if name.startswith("__"):
            raise AttributeError(name)
        return LeftOut(f"{self.__name__}.{name}")


@contextmanager
def left_out(unused: Sequence[str], optional: Sequence[str] = ()) -> Iterator[None]:
    """Load none of these modules for those that import them meanwhile; later they are themselves.

    What is `optional` seems not to be installed: those that import it do without. One that is
    loaded already stays as it is.
    """
    stand_ins: dict[str, Any] = {name: _Module(name) for name in unused}
    stand_ins |= dict.fromkeys(optional)
    stand_ins = {name: each for name, each in stand_ins.items() if name not in sys.modules}
    sys.modules |= stand_ins
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]
