"""Mutants: every small change that mutmut's operators make to a module, constants and properties too.

mutmut 3 itself changes nothing outside functions and nothing that is decorated, and tolerances are
constants and GradCase is properties: its operators are used here, and not its runner.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

NEVER = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.Assert)
"""What is left as it is: types, decorators, imports, and what only mypy is told."""

TYPES = {"Literal", "TypeVar", "cast", "NewType", "TypeAlias"}
"""Names of what makes types; no run depends on them."""


class Mutant(NamedTuple):
    """One small change: the file, the first and last line of the statement, and both texts.

    ``before`` and ``after`` are the lines that change, without the spaces around them. ``number``
    counts the mutants of a file.
    """

    path: Path
    number: int
    first: int
    last: int
    before: str
    after: str

    @property
    def label(self) -> str:
        """The file and the line, as an editor takes it."""
        return f"{self.path}:{self.first}"


class _Collector(cst.CSTVisitor):
    """Collects each node that an operator changes, with what it becomes and the lines around it."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[tuple[cst.CSTNode, cst.CSTNode, int, int]] = []
        self._statements: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Collects the changes of one node, and goes on to what is inside it."""
        if isinstance(node, NEVER) or _is_type(node) or _is_prose(node):
            return False
        if isinstance(node, cst.Arg) and self._statements:
            # A record is frozen for whoever writes code, and no run depends on it.
            statement = self._statements[-1]
            if isinstance(statement, cst.ClassDef) and node in statement.keywords:
                return False
        if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            self._statements.append(node)
        for kind, operator in OPERATORS:
            if isinstance(node, kind):
                for changed in operator(node):
                    self._collect(node, changed)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Notes the end of a statement."""
        if self._statements and self._statements[-1] is original_node:
            self._statements.pop()

    def _collect(self, node: cst.CSTNode, changed: cst.CSTNode) -> None:
        place = self.get_metadata(PositionProvider, node, None)
        if place is None or not self._statements:
            return
        statement = self.get_metadata(PositionProvider, self._statements[-1])
        self.changes.append((node, changed, statement.start.line, place.end.line))


def _ten_times(node: cst.Float) -> Iterator[cst.Float]:
    """A tolerance ten times as great."""
    if node.evaluated_value:
        yield node.with_changes(value=repr(10 * node.evaluated_value))


OPERATORS: tuple[tuple[type[cst.CSTNode], Callable[[Any], Iterable[cst.CSTNode]]], ...] = (
    *mutation_operators,
    (cst.Float, _ten_times),
)
"""mutmut's operators, and one of our own: it adds 1 to a tolerance, which nobody could overlook."""


def _is_type(node: cst.CSTNode) -> bool:
    """Whether a node is there for the type checker, or for whoever imports a module, alone."""
    if isinstance(node, cst.Call):
        return isinstance(node.func, cst.Name) and node.func.value in TYPES
    if isinstance(node, cst.AnnAssign):
        annotation = node.annotation.annotation
        return isinstance(annotation, cst.Name) and annotation.value == "TypeAlias"
    if isinstance(node, cst.Assign):
        target = node.targets[0].target
        names_exports = isinstance(target, cst.Name) and target.value == "__all__"
        return names_exports or _makes_a_type(node.value)
    return False


def _makes_a_type(value: cst.BaseExpression) -> bool:
    """Whether a value is a type with parameters: ``Literal["a", "b"]``, ``Mapping[str, int]``."""
    if not isinstance(value, cst.Subscript) or not isinstance(value.value, cst.Name):
        return False
    # Tables are subscripted too, and are named in capitals throughout.
    name = value.value.value
    return name[:1].isupper() and not name.isupper()


def _is_prose(node: cst.CSTNode) -> bool:
    """Whether a node is words for a reader: tests pin no sentences, and no docstrings."""
    if not isinstance(node, cst.SimpleString):
        return False
    return node.value.startswith(('"""', 'r"""')) or " " in node.value


def _changes(path: Path) -> tuple[cst.Module, list[tuple[cst.CSTNode, cst.CSTNode, int, int]]]:
    wrapper = MetadataWrapper(cst.parse_module(path.read_text(encoding="utf-8")))
    collector = _Collector()
    wrapper.visit(collector)
    return wrapper.module, collector.changes


def count(path: Path) -> int:
    """How many mutants a file has."""
    return len(_changes(path)[1])


def mutants(path: Path, numbers: set[int]) -> Iterator[tuple[Mutant, str]]:
    """The mutants of a file with these numbers, each with the whole text of the changed file."""
    module, changes = _changes(path)
    text = module.code
    for number in sorted(numbers):
        node, changed, first, last = changes[number]
        mutated = cst.ensure_type(module.deep_replace(node, changed), cst.Module)
        before, after = _changed_lines(text, mutated.code)
        yield Mutant(path, number, first, last, before, after), mutated.code


def _changed_lines(before: str, after: str) -> tuple[str, str]:
    """The lines of two texts that are not alike, each stripped and joined by spaces."""
    removed, added = [], []
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if line.startswith("- "):
            removed.append(line[2:].strip())
        elif line.startswith("+ "):
            added.append(line[2:].strip())
    return " ".join(removed), " ".join(added)
