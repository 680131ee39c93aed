"""What one framework's net is made of: a scenario's files without the nets of the other frameworks."""

import ast
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from explorer.model.engines import FRAMEWORKS, Framework
from explorer.scenario.declaration import SENT, Factory, decoded, encoded
from explorer.scenario.find import SHIPPED, digest_of, imported_from
from explorer.text.parsing import parsed


def files_of(path: Path, framework: Framework) -> dict[str, str]:
    """The digest of what a scenario's file, and those that it imports, say to one framework's worker.

    A change of another framework's net changes none of them, unless it moves the lines of this one.
    The folder of a user's file counts, since programs that are printed name it. Raises OSError where
    a file cannot be read.
    """
    path = path.resolve()
    if path.suffix == SENT:
        return {path.name: digest_of(_declared(path, framework))}
    digests = {} if path.parent in SHIPPED else {"folder": str(path.parent)}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        name = os.path.relpath(file, path.parent)
        if name in digests:
            continue
        content = file.read_bytes()
        if file == path:
            content = without_others(content, framework)
        digests[name] = digest_of(content)
        waiting.extend(imported_from(path.parent, content))
    return digests


def _declared(path: Path, framework: Framework) -> bytes:
    """A declaration of one's own nets, of which the other nets' modules and sources are left out."""
    declaration = decoded(path.read_bytes(), path)
    nets = {}
    for name, factory in declaration.nets.items():
        # Its folder is on the path of every worker, and whether it is there decides on dropout.
        nets[name] = factory if name == framework else Factory("", "", factory.folder)
    mark = f"{declaration.nets.get(framework)}: "
    sources = {
        place: digest for place, digest in declaration.sources.items() if place.startswith(mark)
    }
    return encoded(msgspec.structs.replace(declaration, nets=nets, sources=sources))


@lru_cache(maxsize=256)
def without_others(content: bytes, framework: Framework) -> bytes:
    """A scenario's text in which the lines of the other frameworks' nets are empty.

    All of it where it is not Python, or where something else in it names these nets.
    """
    try:
        tree = parsed(content)
    except (SyntaxError, ValueError):  # whoever loads the scenario says so
        return content
    others = {f"{name}_net" for name in FRAMEWORKS if name != framework}
    nets = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in others]
    kept = [node for node in tree.body if node not in nets]
    if any(not others.isdisjoint(_named(node)) for node in kept):
        return content
    lines = content.splitlines()
    for node in nets:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for number in range(first - 1, node.end_lineno or first):
            lines[number] = b""
    return b"\n".join(lines).rstrip()


def _named(node: ast.stmt) -> Iterator[str]:
    """The names and attributes in a statement, and its texts, by which something may be looked up."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
