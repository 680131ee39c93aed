"""What is found about devices: tables by question, and the matrix on each device."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.measurement import Figures
from explorer.model.message import Text, message
from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import one_line
from explorer.topics.attempts import raised, said
from explorer.topics.cells import (
    NONE,
    heights,
    listed_party,
    messages,
    missing,
    named,
    party,
    sentences,
    yes_or_no,
)
from explorer.topics.devices.questions import HOST, LIVES, MATRIX, MOVES, SEES, TOPIC
from explorer.topics.evidence import Evidence, grouped


class Case(msgspec.Struct, frozen=True):
    """An engine's answer to one case of the matrix: its outcome, and its tensors by name."""

    outcome: str
    leaves: dict[str, Any]


Cases = dict[str, Case]
"""The answers of an engine on one device, by the label of the case."""


class Kinds(msgspec.Struct, frozen=True):
    """The devices that a framework can use, and whether each kind is available, or what it raised."""

    usable: list[str]
    available: dict[str, Any]


def matrices_of(evidence: Evidence) -> dict[str, dict[str, Cases]]:
    """The answers of each engine by device."""
    return evidence.records(MATRIX, dict[str, Cases])


BY_QUESTION = (SEES, LIVES, MOVES, HOST)
"""The questions whose figures are a table each."""

CPU = "cpu"

MESSAGE = 160
"""The characters of a message that stand in a cell or a finding: MindSpore's fill a screen."""


@TOPIC.finding()
def devices_against_the_cpu(evidence: Evidence) -> Iterator[Text]:
    """How far each engine's answers on another device are from those on the CPU."""
    matrices = matrices_of(evidence)
    if is_cpu_alone(matrices):
        yield message("devices.cpu_alone")
    for engine, devices in matrices.items():
        for device, cases in devices.items():
            # A process of MindSpore keeps to one device: on another it has no CPU to compare with.
            if device != CPU and CPU in devices:
                yield _against_the_cpu(engine, device, devices[CPU], cases)


def is_cpu_alone(matrices: Mapping[str, Mapping[str, Cases]]) -> bool:
    """Whether some engine has answered on the CPU, and none on any other device."""
    devices = {device for by_device in matrices.values() for device in by_device}
    return devices == {CPU}


def _against_the_cpu(engine: str, device: str, on_cpu: Cases, cases: Cases) -> Text:
    worst = difference(on_cpu, cases)
    name = "near_cpu"
    if worst == 0:
        name = "as_on_cpu"
    elif math.isinf(worst):
        name = "other_tensors"
    return message(f"devices.{name}", who=party(engine), device=device, worst=worst, n=len(cases))


@TOPIC.finding()
def cases_answered_by_each(evidence: Evidence) -> Iterator[Text]:
    """How many of the cases each engine answers, engines that answer as many together."""
    matrices = matrices_of(evidence)
    places: dict[str, Text] = {}
    counts: dict[str, tuple[str, int, int, str]] = {}
    for engine, devices in matrices.items():
        who = listed_party(engine)
        for device, cases in devices.items():
            place = f"{engine} {device}"
            places[place] = who
            if not is_cpu_alone(matrices):
                places[place] = message("devices.engine_on", who=who, device=device)
            refused = _without(cases)
            text = "answered"
            if refused:
                text = "answered_all_but"
            counts[place] = (text, answered(cases), len(cases), refused)
    for names, (text, count, of_all, refused) in grouped(counts):
        yield message(
            f"devices.{text}",
            answered=count,
            n=of_all,
            refused=refused,
            places=tuple(places[name] for name in names),
        )


def _without(cases: Cases) -> str:
    """Which way to ask gets none, where it is a single one among others that do; else ""."""
    refused = [label for label, case in cases.items() if case.outcome != "ok"]
    if len(refused) == 1 < len(cases):
        return refused[0]
    return ""


@TOPIC.finding()
def kinds_of_devices(evidence: Evidence) -> Iterator[Text]:
    """Which devices each framework can use here, and which kinds it knows beside them."""
    for framework, kinds in evidence.records(SEES, Kinds).items():
        # "is not True": MindSpore may have raised when it was asked for a kind.
        absent = [kind for kind, is_here in kinds.available.items() if is_here is not True]
        values = {"who": party(framework), "usable": tuple(kinds.usable)}
        if absent:
            yield message("devices.usable_alone", absent=tuple(absent), **values)
        else:
            yield message("devices.usable_here", **values)


@TOPIC.finding(MOVES.by("torch"))
def pytorch_moves(evidence: Evidence) -> Iterator[Text]:
    """Where PyTorch took tensors and nets."""
    yield message("devices.moves_in_torch", places=tuple(evidence[MOVES]["torch"]["tensor_to"]))


@TOPIC.finding(MOVES.by("mindspore"))
def mindspore_keeps_its_device(evidence: Evidence) -> Iterator[Text]:
    """MindSpore's answer to a second device, and its methods that move a tensor."""
    figures = evidence[MOVES]["mindspore"]
    movers: list[Text] = [f"Tensor.{name}" for name in figures["tensor_api"]]
    movers = movers or [message("devices.nothing")]
    again = figures["set_device_again"]
    if raised(again):
        error = one_line(said(again), MESSAGE)
        yield message("devices.keeps_its_device", error=error, movers=tuple(movers))
    else:
        yield message("devices.takes_another", movers=tuple(movers))


def difference(cases: Cases, other_cases: Cases) -> float:
    """The greatest difference of two answers to the matrix.

    It is infinite where an outcome differs, or the names of the leaves.
    """
    worst = 0.0
    # Both have all cases: an engine that cannot answer one has an outcome for it all the same.
    for label, case in cases.items():
        other = other_cases[label]
        if case.outcome != other.outcome or case.leaves.keys() != other.leaves.keys():
            return math.inf
        for name, leaf in case.leaves.items():
            worst = max(worst, greatest_difference(leaf, other.leaves[name]))
    return worst


@TOPIC.table()
def figures_by_question(evidence: Evidence) -> Iterator[Table[Text]]:
    """What each framework measured, a table a question."""
    for question in BY_QUESTION:
        rows: list[tuple[Cell | Text, ...]] = []
        for framework, figures in evidence[question].items():
            for words, cell in _flat(figures):
                rows.append((framework, words, cell))
        yield Table(
            title=message(f"devices.{question.name}.title"),
            columns=messages("devices", "framework", "what", "measured"),
            rows=tuple(rows),
        )


FIGURES = frozenset(
    {
        "usable",
        "available",
        "tensor",
        "parameter",
        "result",
        "gradient",
        "target",
        "moved",
        "tensor_api",
        "net_api",
        "move_to_same",
        "move_to_other",
        "set_device_again",
        "set_device_other",
        "tensor_to",
        "net_to",
        "to_absent",
        "mixed",
        "result_with_tape",
        "result_detached",
        "elsewhere",
        "elsewhere_by_cpu",
    }
)
"""The figures that have a text; others, such as those of a device, are as they are called."""


def _flat(figures: Figures, *path: Text) -> Iterable[tuple[Text, Text]]:
    """Nested figures one by one: the names that lead to each, and its cell."""
    for name, figure in figures.items():
        words = named("devices", name, FIGURES)
        if isinstance(figure, dict) and not raised(figure):
            yield from _flat(figure, *path, words)
            continue
        for outer in reversed(path):
            words = message("devices.path", outer=outer, inner=words)
        yield words, _cell(figure)


def _cell(figure: Any) -> Text:
    if raised(figure):
        return one_line(said(figure), MESSAGE)
    if isinstance(figure, list):
        if all(isinstance(item, str) for item in figure):
            return ", ".join(figure) or NONE
        return str(figure)
    if isinstance(figure, bool):
        return yes_or_no(figure)
    return str(figure)


@TOPIC.table()
def matrix_by_device(evidence: Evidence) -> Iterator[Table[Text]]:
    """How many cases each engine answers on each device, and how far they are from the CPU's."""
    matrices = matrices_of(evidence)
    rows: list[tuple[Cell | Text, ...]] = []
    for engine, devices in matrices.items():
        for device, cases in devices.items():
            # MindSpore answers on the device of its process alone, which may be another one.
            worst: float | None = None
            if device != CPU and CPU in devices:
                worst = difference(devices[CPU], cases)
            rows.append((party(engine), device, len(cases), answered(cases), worst))
    note: Text = message("devices.matrix.note")
    if is_cpu_alone(matrices):
        note = sentences(note, message("devices.matrix.cpu_alone"))
    yield Table(
        title=message("devices.matrix.title"),
        columns=messages("devices", "engine", "device", "cases", "cases_answered", "greatest"),
        rows=tuple(rows),
        note=sentences(note, missing(evidence, MATRIX)),
    )


@TOPIC.chart()
def cases_answered(evidence: Evidence) -> Iterator[Chart[Text]]:
    """Bars of the cases that each engine answers, a colour a device."""
    matrices = matrices_of(evidence)
    # The CPU first, then in the order in which engines name them; each once.
    names: dict[str, None] = {}
    for devices in matrices.values():
        names.update(dict.fromkeys(devices))

    labels = tuple(map(party, matrices))
    series: list[Series[Text]] = []
    for device in names:
        # There is no bar where an engine was not asked.
        counts: list[int | None] = []
        for devices in matrices.values():
            if device in devices:
                counts.append(answered(devices[device]))
            else:
                counts.append(None)
        series.append(Series(device, labels, heights(counts)))
    if series:
        yield Chart(
            name="devices-matrix",
            title=message("devices.chart.title"),
            kind="bars",
            x="",
            y=message("devices.chart.y"),
            series=tuple(series),
            note=_counted_in_words(matrices),
        )


def _counted_in_words(matrices: Mapping[str, Mapping[str, Cases]]) -> Text:
    """How many cases there are, and how many of them some engine or other does not answer."""
    asked: set[str] = set()
    answered_each: list[set[str]] = []
    for devices in matrices.values():
        for cases in devices.values():
            asked |= cases.keys()
            answered_each.append(answered_cases(cases))
    everywhere = set.intersection(*answered_each)
    somewhere = set.union(*answered_each)
    return message(
        "devices.chart.note",
        n=len(asked),
        all=len(everywhere),
        some=len(somewhere) - len(everywhere),
        nobody=len(asked) - len(somewhere),
    )


def answered(cases: Cases) -> int:
    """How many cases were answered with tensors."""
    return len(answered_cases(cases))


def answered_cases(cases: Cases) -> set[str]:
    """The cases that were answered with tensors."""
    return {label for label, case in cases.items() if case.outcome == "ok"}
