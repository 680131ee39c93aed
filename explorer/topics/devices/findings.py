"""What is found about devices: tables by question, and the matrix on each device."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import one_line
from explorer.topics.attempts import raised, said
from explorer.topics.devices.questions import HOST, LIVES, MATRIX, MOVES, SEES, TOPIC
from explorer.topics.evidence import Evidence

TITLES = {
    SEES: "What each framework sees",
    LIVES: "Where things are when nothing is said about devices",
    MOVES: "What moves a tensor, and what a framework says where it cannot",
    HOST: "What reads a result as the host's numbers",
}
"""The titles of the tables, a question each."""

MESSAGE = 160
"""The characters of a message that stand in a cell or a finding: MindSpore's fill a screen."""


@TOPIC.finding()
def kinds_of_devices(evidence: Evidence) -> Iterator[str]:
    """Which devices each framework can use here, and which kinds it knows beside them."""
    for framework, figures in evidence[SEES].items():
        usable = ", ".join(figures["usable"])
        # "is not True": MindSpore may have raised when it was asked for a kind.
        absent = [kind for kind, is_here in figures["available"].items() if is_here is not True]
        yield (
            f"{framework} can use {usable} here; it also knows"
            f" {', '.join(absent) or 'no other kind'}."
        )


@TOPIC.finding(MOVES.by("torch"))
def pytorch_moves(evidence: Evidence) -> Iterator[str]:
    """Where PyTorch took tensors and nets."""
    places = ", ".join(evidence[MOVES]["torch"]["tensor_to"])
    yield f"PyTorch moves tensors and nets one by one, at any time: `.to` took both to {places}."


@TOPIC.finding(MOVES.by("mindspore"))
def mindspore_keeps_its_device(evidence: Evidence) -> Iterator[str]:
    """MindSpore's answer to a second device, and its methods that move a tensor."""
    figures = evidence[MOVES]["mindspore"]
    movers = ", ".join(f"Tensor.{name}" for name in figures["tensor_api"]) or "nothing"
    again = figures["set_device_again"]
    answer = f"is refused ({one_line(said(again), MESSAGE)})" if raised(again) else "is taken"
    yield (
        f"MindSpore chooses a device for the process: a second set_device {answer}; to move a"
        f" tensor it offers {movers}."
    )


@TOPIC.finding()
def devices_against_the_cpu(evidence: Evidence) -> Iterator[str]:
    """How far each engine's matrix on another device is from that on the CPU."""
    matrices = evidence[MATRIX]
    for engine, devices in matrices.items():
        for device, cases in devices.items():
            # A process of MindSpore keeps to one device: on another it has no CPU to compare with.
            if device == "cpu" or "cpu" not in devices:
                continue
            worst = difference(devices["cpu"], cases)
            yield (
                f"{engine} on {device} differs from cpu by at most {worst:.3g} over {len(cases)}"
                " cases."
            )
    if matrices and all(len(devices) <= 1 for devices in matrices.values()):
        yield (
            "The CPU is the only device here, so there is no second one to compare the matrix with."
        )


def difference(cases: Mapping[str, Any], other_cases: Mapping[str, Any]) -> float:
    """The greatest difference of two answers to the matrix.

    It is infinite where an outcome differs, or the names of the leaves.
    """
    worst = 0.0
    # Both have all cases: an engine that cannot answer one has an outcome for it all the same.
    for label, case in cases.items():
        other = other_cases[label]
        leaves, other_leaves = case["leaves"], other["leaves"]
        if case["outcome"] != other["outcome"] or leaves.keys() != other_leaves.keys():
            return math.inf
        for name, leaf in leaves.items():
            worst = max(worst, greatest_difference(leaf, other_leaves[name]))
    return worst


@TOPIC.table()
def figures_by_question(evidence: Evidence) -> Iterator[Table]:
    """What each framework measured, a table a question."""
    for question, title in TITLES.items():
        rows: list[tuple[Cell, ...]] = []
        for framework, figures in evidence[question].items():
            for words, cell in _flat(figures):
                rows.append((framework, words, cell))
        yield Table(title=title, columns=("framework", "what", "measured"), rows=tuple(rows))


def _flat(figures: Figures, prefix: str = "") -> Iterable[tuple[str, str]]:
    """Nested figures one by one: the names that lead to each, and its cell."""
    for name, figure in figures.items():
        words = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(figure, dict) and not raised(figure):
            yield from _flat(figure, f"{words}: ")
        else:
            yield words, _cell(figure)


def _cell(figure: Any) -> str:
    if raised(figure):
        return one_line(said(figure), MESSAGE)
    if isinstance(figure, list):
        return ", ".join(map(str, figure)) or "none"
    if isinstance(figure, bool):
        return "yes" if figure else "no"
    return str(figure)


@TOPIC.table()
def matrix_by_device(evidence: Evidence) -> Iterator[Table]:
    """How many cases each engine answers on each device, and how far they are from the CPU's."""
    rows: list[tuple[Cell, ...]] = []
    for engine, devices in evidence[MATRIX].items():
        for device, cases in devices.items():
            # MindSpore answers on the device of its process alone, which may be another one.
            worst = difference(devices["cpu"], cases) if "cpu" in devices else None
            rows.append((engine, device, len(cases), answered(cases), worst))
    yield Table(
        title="The matrix on each device",
        columns=("engine", "device", "cases", "answered", "greatest difference from cpu"),
        rows=tuple(rows),
    )


@TOPIC.chart()
def cases_answered(evidence: Evidence) -> Iterator[Chart]:
    """Bars of the cases that each engine answers, a colour a device."""
    matrices = evidence[MATRIX]
    # The CPU first, then in the order in which engines name them; each once.
    names: dict[str, None] = {}
    for devices in matrices.values():
        names.update(dict.fromkeys(devices))

    series = []
    for device in names:
        bars = [_bar(devices.get(device)) for devices in matrices.values()]
        series.append(Series(device, tuple(matrices), tuple(bars)))
    if series:
        yield Chart(
            name="devices-matrix",
            title="The matrix on each device",
            kind="bars",
            x="",
            y="cases answered",
            series=tuple(series),
            note=(
                "Cases that an engine answers on each device here; the others raise on every"
                " engine, as they must."
            ),
        )


def _bar(cases: Mapping[str, Any] | None) -> float | None:
    """How high the bar of an engine is on a device; there is none where it was not asked."""
    return None if cases is None else float(answered(cases))


def answered(cases: Mapping[str, Any]) -> int:
    """How many cases were answered with tensors."""
    return sum(case["outcome"] == "ok" for case in cases.values())
