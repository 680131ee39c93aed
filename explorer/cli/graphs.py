"""The ``graph`` and ``diff`` commands: gradient graphs of one case as a picture, and where two of
them part.
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from explorer.cli.asking import Asked, check
from explorer.cli.exploring import ALIASES, LOST, explored
from explorer.model.alignment import Alignment, Coverage
from explorer.model.errors import ExplorerError, UsageError
from explorer.model.graph import GradGraph, Node
from explorer.model.report import Report
from explorer.report import json, write
from explorer.text.choices import choose, refusal
from explorer.text.clean import clean
from explorer.text.messages import one_line

if TYPE_CHECKING:
    from explorer.drawing.formats import FormatName, View

VIEWS = ("ladder", "flow")
SUFFIXES = {**{suffix: kind for kind, suffix in write.PICTURES.items()}, ".json": "json"}
DEFAULT_ENGINE = "mindspore-graph"


class NoGraphError(ExplorerError):
    """An engine that could not capture the case asked for; the exit code says whether its worker
    was lost.
    """

    def __init__(self, message: str, lost: bool) -> None:
        super().__init__(message)
        self.exit_code = 3 if lost else 2


class Look(msgspec.Struct, frozen=True):
    """How a graph is to be drawn, as given on the command line."""

    view: str
    depth: int | None
    stage: str | None
    file_format: str | None


def graph(asked: Asked, output: Path, look: Look) -> int:
    """Capture one or two engines' graphs of one case, and write them as one file."""
    kind = _kind(output, look.file_format)
    choose("view", look.view, VIEWS)
    if look.depth is not None and look.depth < 0:
        raise UsageError(
            f"--depth {look.depth} is out of range; allowed: 0 (all in one box) and up"
        )
    question = check(msgspec.structs.replace(asked, engines=asked.engines or [DEFAULT_ENGINE]))
    if len(question.engines) > 2:
        raise UsageError(
            f"--engine is given {len(question.engines)} times; a file holds one graph, or two side by side"
        )
    if len(question.engines) == 2 and kind != "svg":
        raise UsageError(
            f"two graphs side by side are drawn as svg only, not as {kind}; give one --engine, or a .svg file"
        )
    write.prepare(output.parent)
    report = explored(question, only_graph_case=True)
    found = _stages([_graphs_of(report, engine) for engine in question.engines], look.stage)
    content = (
        _alone(found[0], kind, look)
        if len(found) == 1
        else _beside(found[0], found[1], report, look)
    )
    print(f"wrote {one_line(str(write.put(output, content)))}")
    return 0


def _kind(output: Path, given: str | None) -> str:
    """The format asked for, or the one that the file's name ends in."""
    if given:
        return choose("format", ALIASES.get(given, given), SUFFIXES.values())
    if output.suffix in SUFFIXES:
        return SUFFIXES[output.suffix]
    fact = (
        f"{str(output)!r} does not end in a format"
        if output.suffix
        else f"{str(output)!r} has no ending that says its format"
    )
    raise UsageError(refusal(fact, output.suffix, list(SUFFIXES)) + "; or give --format")


def _graphs_of(report: Report, engine: str) -> list[GradGraph]:
    found = [each for each in report.graphs if each.engine == engine]
    if found:
        return found
    (case,) = report.cases
    reason = one_line(report.ungraphed.get(engine, "it gave none"))
    raise NoGraphError(
        f"{engine} has no graph of {case.case.label}: {reason}",
        lost=case.results[engine].outcome in LOST,
    )


def _stages(engines: list[list[GradGraph]], stage: str | None) -> list[GradGraph]:
    """Each engine's graph at a stage; beside an engine that has it, one that has not shows its
    last.
    """
    if stage is None:
        return [graphs[-1] for graphs in engines]
    choose(
        f"stage of {' and '.join(graphs[0].engine for graphs in engines)}",
        stage,
        [g.stage for each in engines for g in each],
    )
    return [
        next((each for each in graphs if each.stage == stage), graphs[-1]) for graphs in engines
    ]


def _alone(found: GradGraph, kind: str, look: Look) -> bytes:
    if kind == "json":
        return json.encode(json.graph_document(found))
    from explorer.drawing import draw

    return draw(
        found, format=cast("FormatName", kind), view=cast("View", look.view), depth=look.depth
    )


def _beside(left: GradGraph, right: GradGraph, report: Report, look: Look) -> bytes:
    """Both in one picture; nodes that hold the same quantity carry the same number where these very
    graphs were aligned.
    """
    from explorer.drawing import pair

    numbers: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {})
    if (left, right) == tuple(
        next(g for g in reversed(report.graphs) if g.engine == each.engine)
        for each in (left, right)
    ):
        (alignment,) = report.alignments
        numbers = (alignment.numbers("left"), alignment.numbers("right"))
    return pair(left, right, view=cast("View", look.view), depth=look.depth, numbers=numbers)


def diff(asked: Asked, as_json: bool) -> int:
    """Align two engines' graphs of one case, and print where they first part; 1 when they do."""
    question = check(asked)
    if len(question.engines) != 2:
        raise UsageError(f"{question.engines[0]!r} is given twice; name two different engines")
    report = explored(question, only_graph_case=True)
    nodes = {engine: _graphs_of(report, engine)[-1].by_id() for engine in question.engines}
    (alignment,) = report.alignments
    if as_json:
        head = {"schema": report.schema, "scenario": report.scenario}
        sys.stdout.buffer.write(json.encode({**head, **json.alignment_document(alignment)}))
    else:
        for line in _lines(alignment, nodes):
            print(clean(line))
    return int(alignment.divergence is not None)


def _lines(alignment: Alignment, nodes: Mapping[str, Mapping[str, Node]]) -> Iterable[str]:
    left, right = alignment.left, alignment.right
    width = max(len(left), len(right))
    yield f"{alignment.case}"
    for engine, coverage in ((left, alignment.left_coverage), (right, alignment.right_coverage)):
        yield f"  {engine:{width}}  {_covered(coverage)}"
    found = alignment.divergence
    if found is None:
        yield "no divergence: every result is the same on both sides, up to rounding"
        return
    yield found.sentence
    for engine, node, source, value in (
        (left, found.left, found.left_source, found.left_value),
        (right, found.right, found.right_source, found.right_value),
    ):
        known = nodes[engine].get(node) if node else None
        op = f"{known.op} ({node})" if known else "no counterpart"
        yield f"  {engine:{width}}  {op}  {value}  {source}".rstrip()
    if found.greatest is not None:
        yield f"  greatest difference {found.greatest:.3g}"
    if alignment.differing:
        yield f"results that differ: {', '.join(alignment.differing)}"


def _covered(coverage: Coverage) -> str:
    steps = f"; {coverage.within} as steps inside one op of the other" if coverage.within else ""
    return (
        f"forward {coverage.forward} of {coverage.forward_total} op nodes paired, "
        f"backward {coverage.backward} of {coverage.backward_total}{steps}"
    )
