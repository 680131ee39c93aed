"""Claims about the device of a process: how it is chosen, and where outputs are (rows 73 and 79)."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.text.messages import first_clause
from explorer.text.numbers import digits
from explorer.topics.attempts import raised
from explorer.topics.devices.questions import CONTEXT, OUTPUTS, TOPIC
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.styles import SHORT_LABELS, by_style

OF_MINDSPORE = ("mindspore",)


@TOPIC.claim(
    73,
    "set_context(device_target=…, device_id=…) chooses the device of a MindSpore process.",
    heading="devices",
    guides=("000", "001"),
    sections={"000": "torch.device", "001": "backend device"},
    would="The device that it names is that of the process afterwards, and nothing warns of it.",
    asks=(CONTEXT,),
)
def choosing_by_context(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when set_context takes the device here without a warning, beside another kind of device.

    It holds with changes when it warns, and is outdated when it refuses. With the CPU alone there
    is nothing to choose.
    """
    figures = evidence[CONTEXT]["mindspore"]
    meant, here = figures["as meant"], figures["here"]
    warnings = " ".join(figures["warnings"]) or "none"
    seen = (
        Observation("devices here", ", ".join(figures["kinds"]), ("mindspore",)),
        Observation(
            "set_context as printed (Ascend)", _answer(figures["as printed"]), OF_MINDSPORE
        ),
        Observation(f"set_context with {here}", _answer(meant), OF_MINDSPORE, meant == here),
        Observation("warnings", warnings, OF_MINDSPORE, not figures["warnings"]),
    )
    if raised(meant):
        return Ruling("outdated", seen, "Call set_device(target, number) before anything runs.")
    if meant != here:
        return Ruling("does_not_hold", seen, "Read get_context('device_target') before you go on.")
    if any("device_target" in text for text in figures["warnings"]):
        return Ruling(
            "holds_with_changes",
            seen,
            "Write set_device(target, number), before anything runs: set_context still takes both,"
            " and says that it will not.",
        )
    if len(figures["kinds"]) < 2:
        return Ruling(
            "not_checkable_here",
            seen,
            "Choose the device before anything runs; here there is one kind, and nothing to choose.",
        )
    return Ruling("holds", seen, "Call set_context before anything runs.")


def _answer(figure: Any) -> str:
    if raised(figure):
        return f"{figure['raised']}: {first_clause(figure['message'])}"
    return f"the device is {figure}"


WRITTEN = [[7.0, 6.0]]
"""An output of [[6, 6]] whose first element was set to 7."""


@TOPIC.claim(
    79,
    "Outputs of a MindSpore net come back on the CPU and can be written to at once.",
    heading="devices",
    guides=("001",),
    sections={"001": "backend device"},
    would="An output of a net on another device is on the CPU; its elements and array can be set.",
    asks=(OUTPUTS,),
    expects={"written": WRITTEN},
)
def outputs_on_the_host(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when outputs of another device are on the CPU and are written to in both styles.

    It is outdated where they can be written to and stay on that device. Where MindSpore runs on the
    CPU itself, writing alone can be checked.
    """
    answers = evidence[OUTPUTS]
    writable: dict[str, bool] = {}
    for style in MINDSPORE_STYLES:
        element = answers[style]["element written"]
        reading = answers[style]["array written"]
        writable[style] = element == expects["written"] and not raised(reading)
    seen = (
        *_mindspore_seen(answers, expects["written"]),
        *_torch_seen(answers["torch"]),
    )
    if by_style(writable) != "holds":
        return Ruling(
            by_style(writable),
            seen,
            "Copy an output with asnumpy().copy() before you write to it.",
        )

    shared = _writes_through(answers, expects["written"])
    copying = ""
    if shared:
        copying = f" An array shares the output's memory in {shared}: copy it to keep the output."
    (target,) = {answers[style]["target"] for style in MINDSPORE_STYLES}
    places = {str(answers[style]["device"]) for style in MINDSPORE_STYLES}
    if target == "CPU":
        return Ruling(
            "not_checkable_here",
            seen,
            f"Write to outputs; where they are, a machine with an NPU has to tell.{copying}",
        )
    if all(place.startswith("CPU") for place in places):
        return Ruling("holds", seen, f"Read and write outputs at once.{copying}")
    return Ruling(
        "outdated",
        seen,
        f"Write to outputs, and expect them on the device: asnumpy() makes the copy.{copying}",
    )


def _writes_through(answers: Mapping[str, Figures], written: Any) -> str:
    """The styles in which what is written to an output's array is written to the output."""
    styles = [style for style in MINDSPORE_STYLES if answers[style]["array written"] == written]
    return " and ".join(SHORT_LABELS[style] for style in styles)


def _mindspore_seen(answers: Mapping[str, Figures], written: Any) -> Iterator[Observation]:
    """Where outputs are in each style, and what becomes of them when they are written to."""
    by_style = {style: answers[style] for style in MINDSPORE_STYLES}
    targets = {style: figures["target"] for style, figures in by_style.items()}
    devices = {style: figures["device"] for style, figures in by_style.items()}
    elements = {style: figures["element written"] for style, figures in by_style.items()}
    arrays = {style: figures["array written"] for style, figures in by_style.items()}
    yield from observed("device of the process", targets)
    yield from observed("device of the output", devices)
    as_stated = {style: element == written for style, element in elements.items()}
    yield from observed("output after an element was set", elements, _value, as_stated)
    as_stated = {style: not raised(array) for style, array in arrays.items()}
    yield from observed("output after an element of its array was set", arrays, _value, as_stated)


def _torch_seen(figures: Figures) -> Iterator[Observation]:
    for device, writes in figures.items():
        for what, name in (
            ("an element", "element written"),
            ("an element of its array", "array written"),
            ("an element of the detached output's array", "array of the detached written"),
        ):
            value = _value(writes[name])
            yield Observation(f"output on {device} after {what} was set", value, ("torch",))


def _value(figure: Any) -> str:
    return str(figure["raised"]) if raised(figure) else digits(figure)
