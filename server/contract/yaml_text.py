"""YAML output that every reader parses alike, with each mapping and list in full."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import yaml

_WIDTH: Final = 100
_ENDLESS: Final = 1 << 20
_NUMBER: Final = re.compile(r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?")


def as_yaml(document: Mapping[str, Any]) -> str:
    """Return a document as YAML in which every reader parses texts as texts."""
    text: str = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH
    )
    return text


def entry(key: str, value: Any, column: int) -> Iterator[str]:
    """Yield the lines of a key and its value, in one line if that is short enough."""
    pad = " " * column
    name = _in_one_line([key])[1:-1]
    if _is_prose(value):
        yield f"{pad}{name}: |\n"
        yield from (f"{pad}  {line}\n" if line else "\n" for line in value.split("\n")[:-1])
    elif _is_short(one := f"{pad}{name}: {_in_one_line(value)}\n", value):
        yield one
    elif isinstance(value, dict):
        yield f"{pad}{name}:\n"
        for inner, part in value.items():
            yield from entry(inner, part, column + 2)
    else:
        yield f"{pad}{name}:\n"
        for part in value:
            yield from _item(part, column + 2)


def _item(value: Any, column: int) -> Iterator[str]:
    """Yield the lines of an item of a list."""
    pad = " " * column
    if _is_short(one := f"{pad}- {_in_one_line(value)}\n", value) or isinstance(value, list):
        yield one
        return
    lines = [line for key, part in value.items() for line in entry(key, part, column + 2)]
    yield f"{pad}- {lines[0].lstrip()}"
    yield from lines[1:]


def _is_prose(value: Any) -> bool:
    """Return whether a text of several lines can be a literal block below its key."""
    return isinstance(value, str) and re.fullmatch(r"(?! )(.+\n+)*.+\n", value) is not None


def _is_short(line: str, value: Any) -> bool:
    if not value or not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return len(line) <= _WIDTH and all(not _is_prose(p) and _is_short(line, p) for p in parts)


def _in_one_line(value: Any) -> str:
    """Return a value without a line break."""
    if isinstance(value, dict):
        parts = (f"{_in_one_line(key)}: {_in_one_line(part)}" for key, part in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_in_one_line, value))}]"
    if isinstance(value, str) and "\n" in value:
        return json.dumps(value, ensure_ascii=False)
    return _scalar(value)


@lru_cache(2048, typed=True)
def _scalar(value: Any) -> str:
    """Return a scalar as YAML; cached, since most scalars of a contract repeat."""
    text: str = yaml.dump(
        [value], Dumper=_Dumper, default_flow_style=True, allow_unicode=True, width=_ENDLESS
    )
    return text[1:-2]


class _Dumper(yaml.CSafeDumper):
    """A dumper that quotes texts that are numbers in YAML 1.2 but not in PyYAML's 1.1: 09876543."""

    def represent_text(self, text: str) -> yaml.Node:
        style = "'" if _NUMBER.fullmatch(text) else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)
