"""The classes of a scenario's nets: which one a module path leads to, and which lines it may run."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.model.graph import GradGraph, is_users

Definition = ast.ClassDef | ast.FunctionDef

NETS = {"mindspore": "mindspore_net", "torch": "torch_net"}
"""The function of a scenario that makes the net of each framework."""


class NetClasses:
    """What is defined in the net of one framework, read off the text of a scenario's file.

    ``root`` is the class of the net, None where it is a function or made elsewhere.
    """

    def __init__(self, file: Path, framework: str) -> None:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        net = functions[NETS[framework]]
        shared = [node for node in tree.body if not _is_function(node, *NETS.values())]
        self._definitions: dict[str, Definition] = {}
        for statement in (*shared, *ast.walk(net)):
            if isinstance(statement, Definition) and statement is not net:
                self._definitions.setdefault(statement.name, statement)
        self.root: ast.ClassDef | None = None
        for statement in net.body:
            if isinstance(statement, ast.Return):
                self.root = self._class_made_by(statement.value)

    def class_of(self, scope: str) -> ast.ClassDef | None:
        """The class of the innermost module on a path that is of the file; None where unknown."""
        if self.root is None:
            return None
        return self._inside(self.root, scope.split(".") if scope else [])

    def lines_of(self, owner: ast.ClassDef) -> set[int]:
        """The lines of a class, of its bases, and of all that its methods call."""
        lines: set[int] = set()
        reached = [owner.name]
        for name in reached:
            definition = self._definitions[name]
            lines |= set(range(definition.lineno, (definition.end_lineno or 0) + 1))
            for used in _names_that_run(definition):
                if used in self._definitions and used not in reached:
                    reached.append(used)
        return lines

    def _inside(self, owner: ast.ClassDef, path: Sequence[str]) -> ast.ClassDef | None:
        if not path:
            return owner
        made = _attribute(owner, path[0])
        if made is None:
            return None
        return self._made(made, path[1:], owner)

    def _made(
        self, made: ast.expr, path: Sequence[str], owner: ast.ClassDef
    ) -> ast.ClassDef | None:
        inner = self._class_made_by(made)
        if inner is not None:
            return self._inside(inner, path)
        if not path:
            return owner  # a layer of the framework's runs at a line of whoever calls it
        if path[0].isdigit():
            elements = list(_elements(made))
            if len(elements) == 1:
                return self._made(elements[0], path[1:], owner)
            if int(path[0]) < len(elements):
                return self._made(elements[int(path[0])], path[1:], owner)
        return None

    def _class_made_by(self, made: ast.expr | None) -> ast.ClassDef | None:
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            definition = self._definitions.get(made.func.id)
            return definition if isinstance(definition, ast.ClassDef) else None
        return None


def lines_of_other_classes(graph: GradGraph, file: Path) -> Iterator[str]:
    """The nodes in a module of one of the file's classes that are at a line of another class.

    One that has no line of its own says so, and is at that of a neighbour.
    """
    classes = NetClasses(file, graph.engine.partition("-")[0])
    for node in graph.nodes:
        lines = list(filter(is_users, node.source))
        owner = classes.class_of(node.scope)
        if node.kind != "op" or not lines or "source" in node.missing or owner is None:
            continue
        name, _, number = lines[0].rpartition(":")
        if name == file.name and int(number) not in classes.lines_of(owner):
            yield f"{node.id} {node.op} in {node.scope or 'the net'} ({owner.name}) is at {lines[0]}"


def _is_function(node: ast.stmt, *names: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in names


def _names_that_run(definition: Definition) -> Iterator[str]:
    """The names that are used when a module runs: not those with which it makes others."""
    parts: list[ast.AST] = [definition]
    if isinstance(definition, ast.ClassDef):
        methods = [part for part in definition.body if not _is_function(part, "__init__")]
        parts = [*definition.bases, *methods]
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Name):
                yield node.id


def _attribute(owner: ast.ClassDef, name: str) -> ast.expr | None:
    """What a class assigns to ``self.name``."""
    for node in ast.walk(owner):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr == name:
                    return node.value
    return None


def _elements(made: ast.expr) -> Iterator[ast.expr]:
    """The modules that a sequence is made of; one for all of a comprehension."""
    if isinstance(made, ast.Call):
        for argument in made.args:
            is_list = isinstance(argument, ast.List | ast.Tuple | ast.ListComp | ast.Starred)
            yield from _elements(argument) if is_list else (argument,)
    elif isinstance(made, ast.List | ast.Tuple):
        yield from made.elts
    elif isinstance(made, ast.ListComp | ast.GeneratorExp):
        yield made.elt
    elif isinstance(made, ast.Starred):
        yield from _elements(made.value)
