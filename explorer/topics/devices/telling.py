"""What the questions about devices tell: tables by question, and how the matrix fares on each
device.
"""

from collections.abc import Iterable
from typing import Any

from explorer.model.engines import ENGINES, FRAMEWORKS
from explorer.model.measurement import Figures
from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import one_line
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.studying import Telling

QUESTIONS = {
    "sees": "What each framework sees",
    "lives": "Where things are when nothing is said about devices",
    "moves": "What moves a tensor, and what a framework says where it cannot",
    "host": "What reads a result as the host's numbers",
}
"""Measuring functions, and the title of what they find."""

MESSAGE = 160
WORDS = {True: "yes", False: "no"}


def tell(evidence: Evidence) -> Telling:
    """Findings, a table for each question, and the matrix on each device."""
    grids = {
        engine: found for engine in ENGINES if (found := evidence.get(f"devices.matrix.{engine}"))
    }
    asked = tuple(_question(key, title, evidence) for key, title in QUESTIONS.items())
    return Telling(
        findings=(*_seen(evidence), *_moved(evidence), *_agreement(grids)),
        tables=(*asked, _matrix(grids)),
        charts=(_chart(grids),) if grids else (),
    )


def _question(key: str, title: str, evidence: Evidence) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for framework in FRAMEWORKS:
        for name, figure in _flat(evidence.get(f"devices.{key}.{framework}") or {}):
            rows.append((framework, name, figure))
    return Table(title=title, columns=("framework", "what", "measured"), rows=tuple(rows))


def _flat(figures: Figures, prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, figure in figures.items():
        words = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(figure, dict) and not raised(figure):
            yield from _flat(figure, f"{words}: ")
        else:
            yield words, _text(figure)


def _text(figure: Any) -> str:
    if raised(figure):
        return one_line(said(figure), MESSAGE)
    if isinstance(figure, list):
        return ", ".join(map(str, figure)) or "none"
    return WORDS.get(figure, str(figure)) if isinstance(figure, bool) else str(figure)


def _seen(evidence: Evidence) -> Iterable[str]:
    for framework in FRAMEWORKS:
        found = evidence.get(f"devices.sees.{framework}")
        if found:
            absent = [kind for kind, there in found["available"].items() if there is not True]
            yield f"{framework} can use {', '.join(found['usable'])} here; it also knows {', '.join(absent) or 'no other kind'}."


def _moved(evidence: Evidence) -> Iterable[str]:
    torch, mindspore = evidence.get("devices.moves.torch"), evidence.get("devices.moves.mindspore")
    if torch:
        places = ", ".join(torch["tensor_to"])
        yield f"PyTorch moves tensors and nets one by one, at any time: `.to` took both to {places}."
    if mindspore:
        offers = ", ".join(f"Tensor.{name}" for name in mindspore["tensor_api"]) or "nothing"
        again = mindspore["set_device_again"]
        answer = f"is refused ({one_line(said(again), MESSAGE)})" if raised(again) else "is taken"
        yield f"MindSpore chooses a device for the process: a second set_device {answer}; to move a tensor it offers {offers}."


def _agreement(grids: dict[str, Figures]) -> Iterable[str]:
    for engine, found in grids.items():
        others = [name for name in found if name != "cpu"]
        for name in others:
            worst = difference(found["cpu"], found[name])
            yield f"{engine} on {name} differs from cpu by at most {worst:.3g} over {len(found[name])} cases."
    if grids and not any(len(found) > 1 for found in grids.values()):
        yield "The CPU is the only device here, so there is no second one to compare the matrix with."


def difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The greatest difference of two answers to the matrix; infinite where an outcome or a leaf is
    another one.
    """
    worst = 0.0
    for label, answer in one.items():
        there = other[label]
        if (
            answer["outcome"] != there["outcome"]
            or answer["leaves"].keys() != there["leaves"].keys()
        ):
            return float("inf")
        for name, leaf in answer["leaves"].items():
            worst = max(worst, greatest_difference(leaf, there["leaves"][name]))
    return worst


def _matrix(grids: dict[str, Figures]) -> Table:
    rows = [
        (
            engine,
            device,
            len(cases),
            _ok(cases),
            difference(found["cpu"], cases) if "cpu" in found else None,
        )
        for engine, found in grids.items()
        for device, cases in found.items()
    ]
    columns = ("engine", "device", "cases", "answered", "greatest difference from cpu")
    return Table(title="The matrix on each device", columns=columns, rows=tuple(rows))


def _ok(cases: dict[str, Any]) -> int:
    return sum(each["outcome"] == "ok" for each in cases.values())


def _chart(grids: dict[str, Figures]) -> Chart:
    devices = list(dict.fromkeys(device for found in grids.values() for device in found))
    series = tuple(
        Series(
            device,
            tuple(grids),
            tuple(
                float(_ok(found[device])) if device in found else None for found in grids.values()
            ),
        )
        for device in devices
    )
    note = "Cases that an engine answers on each device here; the others raise on every engine, as they must."
    return Chart(
        name="devices-matrix",
        title="The matrix on each device",
        kind="bars",
        x="",
        y="cases answered",
        series=series,
        note=note,
    )
