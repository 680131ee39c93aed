"""One mistake of a migration: where it is planted, and which lines of the net tell it."""

import ast
import functools
from pathlib import Path

import msgspec

from explorer.model.engines import Framework, engine_named
from explorer.scenario.find import REAL
from tests.planted.facts import Fact
from tests.planted.halves import FILES, both_halves

PORTS = Path(__file__).with_name("ports")
"""Ports of some nets to flax with names of their own: each a ``jax_net`` that follows the net's text."""


class Mistake(msgspec.Struct, frozen=True):
    """A replacement of text in the net of one framework.

    ``old`` stands exactly once in the function that makes the net. The changed lines tell the
    mistake, and so do those of either net that hold a snippet of ``told_at``: the line that calls a
    module whose constructor is changed, or the counterpart in the other framework. Where a finding
    about the nets is to tell it, before any comparison, ``finding`` is the parameter that it names.
    Any one of ``facts`` states the cause, and mistakes of one sort share their ``kind``.
    """

    name: str
    scenario: str
    framework: Framework
    old: str
    new: str
    told_at: tuple[str, ...] = ()
    finding: str = ""
    kind: str = ""
    facts: tuple[Fact, ...] = ()

    @property
    def text(self) -> str:
        """What it is planted in: a net of ``nets`` or a shipped one, and a port to JAX of its own."""
        port = PORTS / f"{self.scenario}.py"
        shipped = REAL / f"{self.scenario}.py"
        own = self.scenario in FILES
        texts = [both_halves(self.scenario) if own else shipped.read_text(encoding="utf-8")]
        if self.framework == "jax" and port.exists():
            texts.append(port.read_text(encoding="utf-8"))
        return "\n\n".join(texts)

    def is_between(self, engines: tuple[str, ...]) -> bool:
        """Whether one of these engines runs the net with the mistake, and all others one without."""
        frameworks = {engine_named(engine).framework for engine in engines}
        return self.framework in frameworks and has_nets(self.text, engines)


def has_nets(text: str, engines: tuple[str, ...]) -> bool:
    """Whether a scenario has the nets of all these engines."""
    return all(f"def {engine_named(engine).framework}_net(" in text for engine in engines)


class Planted(msgspec.Struct, frozen=True):
    """A file with a mistake, and the numbers of the lines that tell it.

    ``finding`` is the parameter that a finding must name instead.
    """

    path: Path
    lines: frozenset[int]
    finding: str = ""

    @property
    def module_lines(self) -> frozenset[int]:
        """All lines of the classes and functions around ``lines``, and of those of the same names.

        Functions are those that a net calls beside its classes.
        """
        parts = _parts(ast.parse(self.path.read_text(encoding="utf-8")))
        around = set()
        for node in parts:
            if any(node.lineno <= line <= (node.end_lineno or 0) for line in self.lines):
                around.add(node.name)
        numbers: set[int] = set(self.lines)
        for node in parts:
            if node.name in around:
                numbers.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return frozenset(numbers)


def plant(mistake: Mistake, folder: Path) -> Planted:
    """Write the scenario with its mistake to ``folder``.

    Raises ValueError where the table and the scenario do not fit: text to be replaced that does not
    stand there once, a snippet that stands nowhere.
    """
    (planted,) = plant_all((mistake,), folder)
    return planted


def plant_all(mistakes: tuple[Mistake, ...], folder: Path) -> tuple[Planted, ...]:
    """Write one scenario with several mistakes to ``folder``: one record a mistake, of the same file.

    Raises ValueError where ``plant`` does, where the mistakes are in several scenarios, and where
    two of them replace the same text.
    """
    first = mistakes[0]
    if any(mistake.scenario != first.scenario for mistake in mistakes):
        raise ValueError(f"{[mistake.name for mistake in mistakes]} are in several scenarios")
    planted, starts = _replaced(first.text, mistakes)

    names = "_and_".join(mistake.name for mistake in mistakes)
    path = folder / f"{first.scenario}_{names}.py"
    path.write_text(planted, encoding="utf-8")
    records = []
    for mistake, at in zip(mistakes, starts, strict=True):
        lines = _changed_lines(planted, at, mistake) | _lines_of_snippets(planted, mistake)
        records.append(Planted(path, lines, mistake.finding))
    return tuple(records)


def _replaced(text: str, mistakes: tuple[Mistake, ...]) -> tuple[str, list[int]]:
    """The text with all mistakes, and where each begins in it."""
    found = {mistake: _place(text, mistake) for mistake in mistakes}
    new_starts = {}
    planted, end = "", 0
    for mistake in sorted(mistakes, key=found.__getitem__):
        at = found[mistake]
        if at < end:
            raise ValueError(f"{mistake.name}: another mistake replaces the same text")
        planted += text[end:at]
        new_starts[mistake] = len(planted)
        planted += mistake.new
        end = at + len(mistake.old)
    return planted + text[end:], [new_starts[mistake] for mistake in mistakes]


def _place(text: str, mistake: Mistake) -> int:
    """Where the text to be replaced begins, which stands once in the net of the framework."""
    start, end = span(text, f"{mistake.framework}_net")
    function = text[start:end]
    if function.count(mistake.old) != 1:
        raise ValueError(
            f"{mistake.name}: {mistake.old!r} stands {function.count(mistake.old)} times"
        )
    return start + function.index(mistake.old)


@functools.cache
def span(text: str, function: str) -> tuple[int, int]:
    """Where a function's text begins and ends."""
    offsets = [0]
    for line in text.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            assert node.end_lineno
            return offsets[node.lineno - 1], offsets[node.end_lineno]
    raise ValueError(f"there is no function {function}")


def _changed_lines(planted: str, at: int, mistake: Mistake) -> frozenset[int]:
    """The lines of the new text that the old one does not have."""
    first = planted.count("\n", 0, at) + 1
    last = first + mistake.new.count("\n")
    kept = {line.strip() for line in mistake.old.splitlines()}
    all_lines = planted.splitlines()
    changed = set()
    for number in range(first, last + 1):
        if all_lines[number - 1].strip() not in kept:
            changed.add(number)
    return frozenset(changed)


def _lines_of_snippets(planted: str, mistake: Mistake) -> frozenset[int]:
    lines = set()
    for snippet in mistake.told_at:
        found = [n for n, line in enumerate(planted.splitlines(), 1) if snippet in line]
        if not found:
            raise ValueError(f"{mistake.name}: no line holds {snippet!r}")
        lines.update(found)
    return frozenset(lines)


def _parts(tree: ast.Module) -> list[ast.ClassDef | ast.FunctionDef]:
    """The classes of a file, and the functions beside them in the functions that make nets."""
    parts: list[ast.ClassDef | ast.FunctionDef] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            parts += [
                part for part in node.body if isinstance(part, ast.ClassDef | ast.FunctionDef)
            ]
    return parts
