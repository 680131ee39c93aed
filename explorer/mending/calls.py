"""Calls with other arguments, and calls of other functions."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from explorer.mending.source import Change, Changes, Source


def literal(value: Any) -> str:
    """A value as Python writes it."""
    return repr(list(value)) if isinstance(value, list) else repr(value)


def with_arguments(source: Source, call: ast.Call, arguments: dict[str, Any]) -> Iterator[Changes]:
    """A call with arguments by name; then with each literal that stands there without a name otherwise."""
    named = {keyword.arg: keyword for keyword in call.keywords}
    changes = []
    for name, value in arguments.items():
        if name in named:
            changes.append(source.put(named[name].value, literal(value)))
        else:
            changes.append(_added(source, call, f"{name}={literal(value)}"))
    yield _joined(changes)
    for value in arguments.values():
        for argument in call.args:
            if isinstance(argument, ast.Constant | ast.Tuple | ast.List | ast.UnaryOp):
                yield (source.put(argument, literal(value)),)


def _added(source: Source, call: ast.Call, text: str) -> Change:
    """An argument behind all others."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not given:
        _, end = source.span(call)
        return Change(end - 1, end - 1, text)
    end = max(source.span(it)[1] for it in given)
    # Behind the parentheses around the last one, and not inside of them.
    between = source.text[end : source.span(call)[1] - 1]
    end += (
        len(between) - len(between.lstrip(") \t")) if between.lstrip(" \t").startswith(")") else 0
    )
    return Change(end, end, f", {text}")


def _joined(changes: Sequence[Change]) -> Changes:
    """Changes of which several may be at one place, one behind the other."""
    by_place: dict[tuple[int, int], str] = {}
    for start, end, text in changes:
        by_place[start, end] = by_place.get((start, end), "") + text
    return tuple(Change(*place, text) for place, text in by_place.items())


def renamed(
    source: Source, call: ast.Call, name: str, arguments: dict[str, Any]
) -> Iterator[Changes]:
    """Another function or layer in the place of the one that is called; of a method, another method too."""
    rename = source.put(call.func, name)
    if isinstance(call.func, ast.Attribute) and _is_method(source, call.func):
        _, end = source.span(call.func)
        yield (Change(end - len(call.func.attr), end, name.rpartition(".")[2]),)
    if arguments:
        for changes in with_arguments(source, call, arguments):
            yield (rename, *changes)
            break
    yield (rename,)
    # Without the arguments of the other one.
    if isinstance(call.func, ast.Attribute) and _is_method(source, call.func):
        receiver = source.says(call.func.value)
        rest = [source.says(it) for it in call.args]
        yield (source.put(call, f"{name}({', '.join([receiver, *rest])})"),)
        yield (source.put(call, f"{name}({receiver})"),)
    if len(call.args) + len(call.keywords) > 1 and call.args:
        yield (source.put(call, f"{name}({source.says(call.args[0])})"),)
    if call.args or call.keywords:
        yield (source.put(call, f"{name}()"),)


def _is_method(source: Source, function: ast.Attribute) -> bool:
    """Whether a function is called on a value, and is none of a module or of the net itself."""
    root = source.says(function.value).partition(".")[0]
    return root not in ("self", "jax", *source.modules)
