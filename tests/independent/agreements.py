"""The figures of the explorer's records that the independent programs find too: agreements.toml, read."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path as File
from typing import NamedTuple

import msgspec

Path = tuple[str | int, ...]
"""The way to a figure through nested dicts and lists.

EVERY stands for each element of a list or dict, NAMES at the end for the sorted keys of a dict.
"""

EVERY, NAMES = "*", "names of"

Paths = tuple[str | int | list[str], ...]
"""Several ways in one row of the table: a list stands for each of its steps."""

TOLERANCES = {
    "exact": 0.0,
    # Of float32 numbers: as a share of the greatest element of the figure.
    "near": 1e-6,
    # Of float32 numbers that are sums, quotients and roots of many.
    "sums": 1e-4,
    # Of shares and deviations of thousands of random numbers.
    "sampled": 0.03,
}

FORM, TORCH, GRAPH, TAPE = "closed form", "torch", "mindspore-graph", "mindspore-tape"
"""Who finds a figure: the finders of the runner."""

STYLES = (GRAPH, TAPE)
TORCH_TAPE, TORCH_GRAPH, TORCH_FUNC = "torch-tape", "torch-graph", "torch-func"
MINDSPORE, NN, EXPERIMENTAL, KERAS = "mindspore", "nn", "experimental", "keras"
FRAMEWORKS = (MINDSPORE, TORCH)
GROUPS = {
    "styles": STYLES,
    "engines": (*STYLES, TORCH_TAPE, TORCH_GRAPH),
    "frameworks": FRAMEWORKS,
    "libraries": (*FRAMEWORKS, KERAS),
}
"""Parties that answer the same question, as a row of the table names them."""

OWN = "own"
"""Who finds a figure: the party itself, by its own answer to the same question; else as in OWN_FINDERS."""

OWN_FINDERS = {
    MINDSPORE: TAPE,
    NN: TAPE,
    EXPERIMENTAL: TAPE,
    TORCH_TAPE: TORCH,
    TORCH_GRAPH: TORCH,
    TORCH_FUNC: TORCH,
}


class Agreement(NamedTuple):
    """A figure of a record, and the figure of an independent program that it agrees with.

    ``subject`` is a claim's row or a study's name; ``measurement`` and ``path`` lead to the figure in its
    record, ``finder`` and ``figure`` to that of the program of the same row or study.
    """

    subject: int | str
    measurement: str
    path: Path
    finder: str
    figure: Path
    tolerance: float


WITHOUT_PROGRAM = {
    77: "what Ascend takes is found on an Ascend NPU; no figure of another device decides the row"
}
"""The claims that no program finds the figures of, by row, each with the reason."""

SHARED: dict[int | str, int] = {
    **dict.fromkeys((2, 3, 4, 5, 6, 7, 8, 10), 1),
    20: 19,
    24: 23,
    46: 45,
    49: 72,
    50: 72,
    52: 19,
    70: 22,
    81: 80,
    87: 45,
    91: 75,
    94: 86,
    "data-parallel": 61,
    "operators": 85,
    "schedules": 56,
    "stages": 28,
}
"""Claims and studies whose figures the program of another claim finds, by whose."""

KINDS_LEFT_OUT = {
    "message": "the text of an error is the framework's; its class is compared",
    "fingerprint": "names a graph by its text; whether two are one is compared",
    "notice": "the text of a warning is the framework's",
    "deprecated": "the text of a warning is the framework's",
    "p": "the share of draws that would differ more goes by the draw; what is drawn is compared",
}
"""Figures that no program finds, by a step of the way to them, each with the reason."""


class LeftOut(NamedTuple):
    """Figures of a claim that no program finds: of measurements whose name begins so."""

    subject: int
    measurement: str
    path: Path
    why: str


class _Row(msgspec.Struct, array_like=True, frozen=True):
    """A row of the table, as its comment says."""

    of: str
    at: str
    by: str
    figure: str = "="
    within: str | float = "near"


class _Table(msgspec.Struct, frozen=True):
    """By subject and question the figures that agree; by the reason those that are left out."""

    agree: dict[str, dict[str, list[_Row]]]
    left_out: dict[str, list[tuple[int, str, str]]]


def written(text: str) -> Paths:
    """The ways of a text, "a / [0] / b | c": a choice is a list."""
    steps: list[str | int | list[str]] = []
    for step in text.split(" / ") if text else ():
        if re.fullmatch(r"\[-?\d+\]", step):
            steps.append(int(step[1:-1]))
        else:
            choices = step.split(" | ")
            steps.append(choices if len(choices) > 1 else step)
    return tuple(steps)


def agreements(subject: int | str, question: str, row: _Row) -> Iterator[Agreement]:
    """The figures of every party's answer to a question that a row of the table stands for."""
    at = written(row.at)
    figure = at if row.figure == "=" else written(row.figure)
    tolerance = TOLERANCES[row.within] if isinstance(row.within, str) else row.within
    for name in row.of.split(", "):
        for party in GROUPS.get(name, (name,)):
            finder = OWN_FINDERS.get(party, party) if row.by == OWN else row.by
            for path, place in ways(at, figure):
                yield Agreement(subject, f"{question}.{party}", path, finder, place, tolerance)


def ways(path: Paths, figure: Paths) -> Iterator[tuple[Path, Path]]:
    """Every choice of one step from each list of ``path``, with what goes along of ``figure``.

    A list of ``figure`` goes along with the same list of ``path``, or else with the first that is as long.
    """
    lists = [step for step in path if isinstance(step, list)]
    lengths = [len(steps) for steps in lists]
    partners = [
        lists.index(step) if step in lists else lengths.index(len(step))
        for step in figure
        if isinstance(step, list)
    ]
    for places in product(*(range(len(steps)) for steps in lists)):
        yield _chosen(path, places), _chosen(figure, tuple(places[index] for index in partners))


def _chosen(path: Paths, places: tuple[int, ...]) -> Path:
    remaining = iter(places)
    return tuple(step[next(remaining)] if isinstance(step, list) else step for step in path)


def calls_of_grad() -> Iterator[tuple[int, str, _Row]]:
    """The rows about calls of grad, which follow from what is given to it."""
    net = "gradients.grad(dense_mse, grad_position={}, weights={}, has_aux={})"
    given = (
        ("0", None),
        ("1", None),
        ("(0, 1)", None),
        ("None", "all"),
        ("0", "all"),
        ("(0, 1)", "all"),
    )
    for claim, settings in enumerate((*((*it, True) for it in given), ("0", None, False)), start=1):
        call = net.format(*settings)
        yield claim, call, _Row(f"styles, {TORCH_TAPE}", "values", FORM, f"{claim} / values")
        yield (
            claim,
            call,
            _Row("styles", "values | structure", OWN, f"{claim} / values | structure"),
        )
        yield claim, call, _Row(TORCH_TAPE, "structure", GRAPH, f"{claim} / structure")
        with_value = call.replace(".grad(", ".value_and_grad(")
        yield 10, with_value, _Row("styles", "values", FORM, f"{claim} / with value")
        yield 10, with_value, _Row("styles", "structure", OWN, f"{claim} / with value")
    for name, (position, get_all, by_list) in {
        "first": ("0", False, False),
        "all": ("(0, 1)", True, False),
        "by list": ("None", False, True),
        "all, by list": ("(0, 1)", True, True),
    }.items():
        options = f"get_all={get_all}, get_by_list={by_list}, sens_param=False"
        older = f"gradients.GradOperation({options})(dense_mse{', weights' if by_list else ''})"
        yield 11, older, _Row("styles", "values | structure", OWN, f"{name} / values | structure")
        newer = net.format(position, "all" if by_list else None, False)
        yield 11, newer, _Row("styles", "values", OWN, f"{name} / values")


TABLE = msgspec.toml.decode(File(__file__).with_suffix(".toml").read_bytes(), type=_Table)

AGREEMENTS = [
    agreement
    for subject, question, row in (
        *calls_of_grad(),
        *(
            (int(subject) if subject.isdecimal() else subject, question, row)
            for subject, questions in TABLE.agree.items()
            for question, rows in questions.items()
            for row in rows
        ),
    )
    for agreement in agreements(subject, question, row)
]

LEFT_OUT = [
    LeftOut(subject, measurement, way, why)
    for why, places in TABLE.left_out.items()
    for subject, measurement, path in places
    for way, _ in ways(written(path), ())
]
