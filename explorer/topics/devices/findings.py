"""What is found about devices: tables by question, and the matrix on each device."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import one_line
from explorer.text.numbers import counted
from explorer.topics.attempts import raised, said
from explorer.topics.devices.questions import HOST, LIVES, MATRIX, MOVES, SEES, TOPIC
from explorer.topics.evidence import Evidence, grouped, why_empty
from explorer.topics.question import PARTIES

TITLES = {
    SEES: "What each framework sees",
    LIVES: "Where things are when nothing is said about devices",
    MOVES: "What moves a tensor, and what a framework says where it cannot",
    HOST: "What reads a result as the host's numbers",
}
"""The titles of the tables, a question each."""

CPU = "cpu"

MESSAGE = 160
"""The characters of a message that stand in a cell or a finding: MindSpore's fill a screen."""


NOTHING_TO_COMPARE = "the CPU is the only device here, and there was nothing to compare it with"
"""What is said where no engine has answered on a second device."""


@TOPIC.finding()
def devices_against_the_cpu(evidence: Evidence) -> Iterator[str]:
    """How far each engine's answers on another device are from those on the CPU."""
    matrices = evidence[MATRIX]
    if is_cpu_alone(matrices):
        yield f"No devices were compared: {NOTHING_TO_COMPARE}."
    for engine, devices in matrices.items():
        for device, cases in devices.items():
            # A process of MindSpore keeps to one device: on another it has no CPU to compare with.
            if device == CPU or CPU not in devices:
                continue
            yield _against_the_cpu(f"{PARTIES[engine].label}, on {device}", devices[CPU], cases)


def is_cpu_alone(matrices: Mapping[str, Figures]) -> bool:
    """Whether some engine has answered on the CPU, and none on any other device."""
    devices = {device for by_device in matrices.values() for device in by_device}
    return devices == {CPU}


def _against_the_cpu(where: str, on_cpu: Mapping[str, Any], cases: Mapping[str, Any]) -> str:
    worst = difference(on_cpu, cases)
    compared = counted(len(cases), "way") + " to ask"
    if worst == 0:
        return f"{where} gives exactly the CPU's gradients in {compared}."
    if math.isinf(worst):
        return f"{where} answers {compared} otherwise than the CPU: not the same tensors."
    return f"{where} differs from the CPU by at most {worst:.3g} in {compared}."


@TOPIC.finding()
def cases_answered_by_each(evidence: Evidence) -> Iterator[str]:
    """How many of the cases each engine answers, engines that answer as many together."""
    matrices = evidence[MATRIX]
    counts: dict[str, str] = {}
    for engine, devices in matrices.items():
        label = PARTIES[engine].label.replace(",", "")  # without a comma, since it stands in a list
        for device, cases in devices.items():
            where = label if is_cpu_alone(matrices) else f"{label} on {device}"
            count = f"{answered(cases)} of {counted(len(cases), 'way')}"
            counts[where] = f"{count} to ask for a gradient get one{_without(cases)}"
    for names, count in grouped(counts):
        yield f"{count} ({', '.join(names)})."


def _without(cases: Mapping[str, Any]) -> str:
    """Which way to ask gets none, where it is a single one among others that do."""
    refused = [label for label, case in cases.items() if case["outcome"] != "ok"]
    return f", all but {refused[0]}" if len(refused) == 1 < len(cases) else ""


@TOPIC.finding()
def kinds_of_devices(evidence: Evidence) -> Iterator[str]:
    """Which devices each framework can use here, and which kinds it knows beside them."""
    for framework, figures in evidence[SEES].items():
        # "is not True": MindSpore may have raised when it was asked for a kind.
        absent = [kind for kind, is_here in figures["available"].items() if is_here is not True]
        sentence = f"{PARTIES[framework].label} can use {', '.join(figures['usable'])} here"
        if absent:
            sentence += f", and finds none of the other kinds it knows: {', '.join(absent)}"
        yield f"{sentence}."


@TOPIC.finding(MOVES.by("torch"))
def pytorch_moves(evidence: Evidence) -> Iterator[str]:
    """Where PyTorch took tensors and nets."""
    places = ", ".join(evidence[MOVES]["torch"]["tensor_to"])
    yield f"PyTorch moves tensors and nets at any time: `.to` took both to {places}."


@TOPIC.finding(MOVES.by("mindspore"))
def mindspore_keeps_its_device(evidence: Evidence) -> Iterator[str]:
    """MindSpore's answer to a second device, and its methods that move a tensor."""
    figures = evidence[MOVES]["mindspore"]
    movers = ", ".join(f"Tensor.{name}" for name in figures["tensor_api"]) or "nothing"
    again = figures["set_device_again"]
    to_move = f"to move a single tensor it offers {movers}"
    if raised(again):
        yield (
            f"MindSpore keeps one device for the whole process: a second set_device is refused"
            f" ({one_line(said(again), MESSAGE)}); {to_move}."
        )
    else:
        yield f"MindSpore takes another device in a running process; {to_move}."


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
        is_text = all(isinstance(item, str) for item in figure)
        return ", ".join(figure) or "none" if is_text else str(figure)
    if isinstance(figure, bool):
        return "yes" if figure else "no"
    return str(figure)


@TOPIC.table()
def matrix_by_device(evidence: Evidence) -> Iterator[Table]:
    """How many cases each engine answers on each device, and how far they are from the CPU's."""
    matrices = evidence[MATRIX]
    rows: list[tuple[Cell, ...]] = []
    for engine, devices in matrices.items():
        for device, cases in devices.items():
            # MindSpore answers on the device of its process alone, which may be another one.
            has_other = device != CPU and CPU in devices
            worst = difference(devices[CPU], cases) if has_other else None
            rows.append((PARTIES[engine].label, device, len(cases), answered(cases), worst))
    note = "The cases are as few as show each way to ask for a gradient once."
    if is_cpu_alone(matrices):
        note += f" Differences: none, since {NOTHING_TO_COMPARE}."
    yield Table(
        title="The same cases on each device",
        columns=("engine", "device", "cases", "answered", "greatest difference from cpu"),
        rows=tuple(rows),
        note=f"{note} {why_empty(evidence, MATRIX)}".strip(),
    )


@TOPIC.chart()
def cases_answered(evidence: Evidence) -> Iterator[Chart]:
    """Bars of the cases that each engine answers, a colour a device."""
    matrices = evidence[MATRIX]
    # The CPU first, then in the order in which engines name them; each once.
    names: dict[str, None] = {}
    for devices in matrices.values():
        names.update(dict.fromkeys(devices))

    labels = tuple(PARTIES[engine].label for engine in matrices)
    series = []
    for device in names:
        bars = [_bar(devices.get(device)) for devices in matrices.values()]
        series.append(Series(device, labels, tuple(bars)))
    if series:
        yield Chart(
            name="devices-matrix",
            title="Cases answered on each device",
            kind="bars",
            x="",
            y="cases answered",
            series=tuple(series),
            note=_counted_in_words(matrices),
        )


def _counted_in_words(matrices: Mapping[str, Figures]) -> str:
    """How many cases there are, and how many of them some engine or other does not answer."""
    asked: set[str] = set()
    answered_everywhere: set[str] = set()
    answered_somewhere: set[str] = set()
    for number, cases in enumerate(_all_cases(matrices)):
        mine = {label for label, case in cases.items() if case["outcome"] == "ok"}
        asked |= cases.keys()
        answered_somewhere |= mine
        answered_everywhere = mine if number == 0 else answered_everywhere & mine
    some = len(answered_somewhere) - len(answered_everywhere)
    nobody = len(asked) - len(answered_somewhere)
    return (
        f"Of {counted(len(asked), 'case')}, every engine answers {len(answered_everywhere)}, some"
        f" engines {some}, and none {nobody}."
    )


def _all_cases(matrices: Mapping[str, Figures]) -> Iterator[Mapping[str, Any]]:
    for devices in matrices.values():
        yield from devices.values()


def _bar(cases: Mapping[str, Any] | None) -> float | None:
    """How high the bar of an engine is on a device; there is none where it was not asked."""
    return None if cases is None else float(answered(cases))


def answered(cases: Mapping[str, Any]) -> int:
    """How many cases were answered with tensors."""
    return sum(case["outcome"] == "ok" for case in cases.values())
