"""Claims about devices: what moves, what the host reads, where outputs are (rows 37, 38, 73, 79)."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Text, message
from explorer.text.messages import first_clause
from explorer.text.numbers import digits
from explorer.topics.attempts import raised, said
from explorer.topics.cells import NONE, sentences
from explorer.topics.devices.questions import CONTEXT, HOST, MOVES, OUTPUTS, TOPIC
from explorer.topics.evidence import Evidence, grouped, spaced
from explorer.topics.observations import SHORT_LABELS, by_style, observed
from explorer.topics.question import MINDSPORE_STYLES

OF_MINDSPORE = ("mindspore",)

BESIDE_CPU = message("devices.beside", target="CPU")


class MovesOfPyTorch(msgspec.Struct, frozen=True):
    """The devices beside the CPU, and where `.to` took a tensor and each parameter of a net."""

    usable: list[str]
    tensor_to: dict[str, str]
    net_to: dict[str, list[str]]


class MovesOfMindSpore(msgspec.Struct, frozen=True):
    """The process's device and the other kinds, and where calls took things, by kind and call.

    ``set_device_again`` is what a second set_device did, or raised.
    """

    target: str
    available: list[str]
    moved: dict[str, dict[str, Any]]
    set_device_again: Any

    @property
    def moving_calls(self) -> tuple[str, ...]:
        """The calls that took something to another kind of device than the process's."""
        calls: dict[str, None] = {}  # an ordered set
        for kind in self.moved:
            if kind != self.target:
                calls |= dict.fromkeys(self.calls_that_took_to(kind))
        return tuple(calls)

    def calls_that_took_to(self, kind: str) -> tuple[str, ...]:
        """The calls after which something was on a kind of device."""
        return tuple(call for call, place in self.moved[kind].items() if place == kind)


@TOPIC.claim(
    37,
    "PyTorch moves model and data with .to(device); MindSpore sets one device for the process and"
    " cannot move afterwards.",
    heading="devices",
    guides=("000", "001"),
    sections={"000": "torch.device", "001": "backend device"},
    would=(
        ".to takes tensor and net to a second device in PyTorch; in MindSpore a second set_device is"
        " refused, and so is every call that could move a tensor or a net."
    ),
    asks=(MOVES,),
)
def moving(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch moves tensor and net to a second device, and MindSpore moves neither.

    It holds with changes where MindSpore can move one of them, and is outdated where it moves both
    or takes a second device. Without a second device it is not checkable.
    """
    torch = msgspec.convert(evidence[MOVES]["torch"], MovesOfPyTorch)
    mindspore = msgspec.convert(evidence[MOVES]["mindspore"], MovesOfMindSpore)
    moving_calls = mindspore.moving_calls
    seen = tuple(_devices_seen(torch, mindspore))
    if not _takes_everything(torch):
        return Ruling("does_not_hold", seen)
    if not raised(mindspore.set_device_again) or {"Tensor.to", "Cell.to"} <= set(moving_calls):
        return Ruling("outdated", seen)
    if moving_calls:
        advice = message("devices.choose_or_move", calls=moving_calls)
        return Ruling("holds_with_changes", seen, advice)
    if not torch.usable or not mindspore.available:
        return Ruling("not_checkable_here", seen, _with_one_device(mindspore))
    return Ruling("holds", seen)


def _devices_seen(torch: MovesOfPyTorch, mindspore: MovesOfMindSpore) -> Iterator[Observation]:
    """The devices of both frameworks, and what each call of MindSpore did with them."""
    yield Observation(BESIDE_CPU, _names(torch.usable), ("torch",))
    beside = message("devices.beside", target=mindspore.target)
    yield Observation(beside, _names(mindspore.available), OF_MINDSPORE)
    again = mindspore.set_device_again
    second, taken = message("devices.second_set_device"), message("devices.taken")
    yield Observation(second, _refusal(again) or taken, OF_MINDSPORE, raised(again))
    yield from _moves_seen(mindspore)


def _names(devices: list[str]) -> Text:
    return ", ".join(devices) or NONE


def _with_one_device(mindspore: MovesOfMindSpore) -> Text:
    """The advice where nothing can be moved, with the calls that take a device's name."""
    calls = mindspore.calls_that_took_to(mindspore.target)
    if not calls:
        return message("devices.choose_once")
    return message("devices.choose_once_and_try", calls=calls)


def _moves_seen(mindspore: MovesOfMindSpore) -> Iterator[Observation]:
    """What each call of MindSpore did with each kind of device."""
    for kind, places in mindspore.moved.items():
        for calls, place in grouped(places):
            outcome = _refusal(place) or message("devices.on_place", place=place)
            what = message("devices.moving_with", calls=tuple(calls), kind=kind)
            # With the process's own device there is nothing to move, and nothing is said of it.
            if kind == mindspore.target:
                yield Observation(what, outcome, OF_MINDSPORE)
            else:
                yield Observation(what, outcome, OF_MINDSPORE, place != kind)


def _refusal(figure: Any) -> str:
    """What an attempt raised; "" for none."""
    return said(figure) if raised(figure) else ""


def _takes_everything(torch: MovesOfPyTorch) -> bool:
    """Whether `.to` took the tensor, and every parameter of the net, to each usable device."""
    # A net's `.to` is in place and goes parameter by parameter, so one could be left behind.
    for device in torch.usable:
        places = {torch.tensor_to[device], *torch.net_to[device]}
        if places != {device}:
            return False
    return True


@TOPIC.claim(
    38,
    "MindSpore's outputs are readable with asnumpy() at once; PyTorch needs .cpu() first on a GPU.",
    heading="devices",
    guides=("000", "001"),
    sections={"000": "torch.device", "001": "backend device"},
    would="asnumpy() reads a result; numpy() on a GPU tensor raises, and works after .cpu().",
    asks=(HOST,),
)
def host(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch refuses numpy() on a device other than the CPU, and allows it after cpu().

    Where PyTorch has no such device here, it is not checkable.
    """
    torch, mindspore = evidence[HOST]["torch"], evidence[HOST]["mindspore"]
    seen = list(_asnumpy_seen(mindspore))
    if any(map(raised, mindspore.values())):
        return Ruling("does_not_hold", tuple(seen))

    if raised(torch["result_with_tape"]):
        refusal = said(torch["result_with_tape"])
        seen.append(Observation(message("devices.numpy_on_tape"), refusal, ("torch",)))
    # Without the device "meta": it refuses too, but has no numbers that cpu() could bring back.
    by_cpu = torch["elsewhere_by_cpu"]
    if not by_cpu:
        seen.append(Observation(BESIDE_CPU, NONE, ("torch",)))
        return Ruling("not_checkable_here", tuple(seen))

    devices = tuple(by_cpu)
    is_refused = all(raised(torch["elsewhere"][device]) for device in by_cpu)
    is_copied = not any(map(raised, by_cpu.values()))
    at_once = message("devices.numpy_on", devices=devices)
    by_a_copy = message("devices.cpu_numpy_on", devices=devices)
    seen.append(Observation(at_once, AT_ONCE[is_refused], ("torch",), is_refused))
    seen.append(Observation(by_a_copy, BY_A_COPY[is_copied], ("torch",), is_copied))
    if is_refused and is_copied:
        return Ruling("holds", tuple(seen))
    if is_copied:
        return Ruling("does_not_hold", tuple(seen), "numpy works everywhere")
    return Ruling("does_not_hold", tuple(seen))


AT_ONCE = {True: message("devices.refused"), False: message("devices.works")}
"""What numpy() does with a tensor of another device, by whether it is refused."""

BY_A_COPY = {True: message("devices.works"), False: message("devices.fails")}
"""What numpy() does once cpu() has copied it, by whether that works."""


def _asnumpy_seen(figures: Figures) -> Iterator[Observation]:
    """What asnumpy() made of each tensor of MindSpore; those with one outcome are one row."""
    refusals = {name: _refusal(figure) for name, figure in figures.items()}
    for names, refusal in grouped(refusals):
        what = message("devices.read_by_asnumpy", names=tuple(names))
        outcome = refusal or message("devices.read_at_once")
        yield Observation(what, outcome, OF_MINDSPORE, not refusal)


class Context(msgspec.Struct, frozen=True, rename=spaced):
    """The process's device, the kinds there are, and the device after set_context, or what it raised."""

    here: str
    kinds: list[str]
    as_printed: Any
    as_meant: Any
    warnings: list[str]


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
    context = evidence.records(CONTEXT, Context)["mindspore"]
    meant, here = context.as_meant, context.here
    warnings = " ".join(context.warnings) or NONE
    with_here = message("devices.set_context_with", device=here)
    seen = (
        Observation(message("devices.here"), ", ".join(context.kinds), OF_MINDSPORE),
        Observation(message("devices.as_printed"), _answer(context.as_printed), OF_MINDSPORE),
        Observation(with_here, _answer(meant), OF_MINDSPORE, meant == here),
        Observation(message("devices.warnings"), warnings, OF_MINDSPORE, not context.warnings),
    )
    if raised(meant):
        return Ruling("outdated", seen)
    if meant != here:
        return Ruling("does_not_hold", seen)
    if any("device_target" in text for text in context.warnings):
        return Ruling("holds_with_changes", seen)
    if len(context.kinds) < 2:
        return Ruling("not_checkable_here", seen)
    return Ruling("holds", seen)


def _answer(figure: Any) -> Text:
    if raised(figure):
        return f"{figure['raised']}: {first_clause(figure['message'])}"
    return message("devices.device_is", device=figure)


WRITTEN = [[7.0, 6.0]]
"""An output of [[6, 6]] whose first element was set to 7."""


class Output(msgspec.Struct, frozen=True, rename=spaced):
    """The devices of the process and of an output of a net, and what each way to write left of it."""

    target: str
    device: str
    element_written: Any
    array_written: Any


@TOPIC.claim(
    79,
    "Outputs of a MindSpore net come back on the CPU and can be written to at once.",
    heading="devices",
    guides=("000", "001"),
    sections={"000": "torch.device", "001": "backend device"},
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
    in_mindspore = evidence.records(OUTPUTS.by(*MINDSPORE_STYLES), Output)
    writable: dict[str, bool] = {}
    for style, output in in_mindspore.items():
        is_written = output.element_written == expects["written"]
        writable[style] = is_written and not raised(output.array_written)
    seen = (
        *_mindspore_seen(in_mindspore, expects["written"]),
        *_torch_seen(answers["torch"]),
    )
    if by_style(writable) != "holds":
        return Ruling(by_style(writable), seen, "copy")

    copying = _copying(in_mindspore, expects["written"])
    (target,) = {output.target for output in in_mindspore.values()}
    if target == "CPU":
        advice = sentences(message("devices.write_and_check"), copying)
        return Ruling("not_checkable_here", seen, advice)
    if all(output.device.startswith("CPU") for output in in_mindspore.values()):
        return Ruling("holds", seen, sentences(message("devices.write_at_once"), copying))
    return Ruling("outdated", seen, sentences(message("devices.write_on_device"), copying))


def _copying(answers: Mapping[str, Output], written: Any) -> Text:
    """The styles in which what is written to an output's array is written to the output; "" for none."""
    styles: list[Text] = []
    for style, output in answers.items():
        if output.array_written == written:
            styles.append(message(f"devices.{SHORT_LABELS[style]}"))
    return message("devices.copy_to_keep", styles=tuple(styles)) if styles else ""


def _mindspore_seen(answers: Mapping[str, Output], written: Any) -> Iterator[Observation]:
    """Where outputs are in each style, and what becomes of them when they are written to."""
    targets: dict[str, str] = {}
    devices: dict[str, str] = {}
    elements: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for style, output in answers.items():
        targets[style], devices[style] = output.target, output.device
        elements[style], arrays[style] = output.element_written, output.array_written
    yield from observed(message("devices.process_device"), targets)
    yield from observed(message("devices.output_device"), devices)
    element, array = message("devices.element_written"), message("devices.array_written")
    yield from observed(element, elements, _value, lambda output: output == written)
    yield from observed(array, arrays, _value, lambda output: not raised(output))


def _torch_seen(figures: Figures) -> Iterator[Observation]:
    for device, writes in figures.items():
        for text, figure in WRITES.items():
            what = message(f"devices.{text}", device=device)
            yield Observation(what, _value(writes[figure]), ("torch",))


WRITES = {
    "element_written_on": "element written",
    "array_written_on": "array written",
    "detached_written_on": "array of the detached written",
}
"""The ways to write to an output of PyTorch: the text of each, and its figure."""


def _value(figure: Any) -> str:
    return str(figure["raised"]) if raised(figure) else digits(figure)
