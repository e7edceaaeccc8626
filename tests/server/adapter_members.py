"""Members of a library on which an adapter module relies, compared with the installed version."""

from collections.abc import Mapping
from inspect import Parameter, signature

ANY = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def moved(
    adapter: str, relied_on: Mapping[type, str], instances: Mapping[type, object]
) -> list[str]:
    """Return the members that are gone, or that do not accept the listed arguments.

    Members are looked up on the instance of a class if there is one.
    """
    return [
        f"{adapter} relies on {owner.__name__}.{entry}"
        for owner, entries in relied_on.items()
        for entry in entries.split()
        if not holds(instances.get(owner, owner), entry)
    ]


def holds(owner: object, entry: str) -> bool:
    """Return whether an attribute `name` exists, or a method `name(a,b)` with just a and b."""
    name, method, listed = entry.rstrip(")").partition("(")
    if not method or not hasattr(owner, name):
        return hasattr(owner, name)
    known = signature(getattr(owner, name)).parameters
    given = set(filter(None, listed.split(",")))
    needed = {
        name for name, each in known.items() if each.default is each.empty and each.kind not in ANY
    }
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in known.values())
    return needed - {"self"} <= given and (takes_any or given <= set(known))
