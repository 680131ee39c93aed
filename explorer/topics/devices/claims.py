"""Claims about devices: what moves, and what the host can read (rows 37 and 38)."""

from collections.abc import Iterator
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.devices.questions import HOST, MOVES, TOPIC
from explorer.topics.evidence import Evidence, grouped


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
    torch, mindspore = evidence[MOVES]["torch"], evidence[MOVES]["mindspore"]
    moving_calls = _moving_calls(mindspore)
    seen = tuple(_devices_seen(torch, mindspore))
    if not _takes_everything(torch):
        return Ruling(
            "does_not_hold",
            seen,
            "Check where your tensors are: `.to` does not take everything along.",
        )
    if not raised(mindspore["set_device_again"]) or {"Tensor.to", "Cell.to"} <= set(moving_calls):
        return Ruling(
            "outdated",
            seen,
            "MindSpore takes another device in a running process now; set it where you need it.",
        )
    if moving_calls:
        return Ruling(
            "holds_with_changes",
            seen,
            f"Choose the device once with set_device; {' and '.join(moving_calls)} can move too.",
        )
    if not torch["usable"] or not mindspore["available"]:
        return Ruling("not_checkable_here", seen, _with_one_device(mindspore))
    return Ruling(
        "holds",
        seen,
        "Choose the device once, before anything runs, and leave out every `.to(device)`.",
    )


def _devices_seen(torch: Figures, mindspore: Figures) -> Iterator[Observation]:
    """The devices of both frameworks, and what each call of MindSpore did with them."""
    usable = ", ".join(torch["usable"]) or "none"
    available = ", ".join(mindspore["available"]) or "none"
    yield Observation("devices here beside the CPU", usable, ("torch",))
    yield Observation(f"devices here beside the {mindspore['target']}", available, ("mindspore",))
    again = mindspore["set_device_again"]
    outcome = said(again) if raised(again) else "taken"
    yield Observation("a second set_device", outcome, ("mindspore",), raised(again))
    yield from _moves_seen(mindspore)


def _with_one_device(figures: Figures) -> str:
    """The advice where nothing can be moved, with the calls that take a device's name."""
    here = figures["target"]
    advice = "Choose the device once with set_device, before anything runs"
    calls = [call for call, place in figures["moved"][here].items() if place == here]
    if calls:
        advice += (
            f"; {', '.join(calls)} take a device's name: try them where there is a second device"
        )
    return f"{advice}."


def _moving_calls(figures: Figures) -> list[str]:
    """The calls of MindSpore that took something to another kind of device than the process's."""
    calls: dict[str, None] = {}  # an ordered set
    for kind, places in figures["moved"].items():
        if kind != figures["target"]:
            calls |= dict.fromkeys(call for call, place in places.items() if place == kind)
    return list(calls)


def _moves_seen(figures: Figures) -> Iterator[Observation]:
    """What each call of MindSpore did with each kind of device."""
    for kind, places in figures["moved"].items():
        for calls, place in grouped(places):
            outcome = said(place) if raised(place) else f"on {place}"
            # With the process's own device there is nothing to move, and nothing is said of it.
            as_stated = None if kind == figures["target"] else place != kind
            what = f"{' and '.join(calls)} with {kind}"
            yield Observation(what, outcome, ("mindspore",), as_stated)


def _takes_everything(figures: Figures) -> bool:
    """Whether `.to` took the tensor, and every parameter of the net, to each usable device."""
    # A net's `.to` is in place and goes parameter by parameter, so one could be left behind.
    for device in figures["usable"]:
        if {figures["tensor_to"][device], *figures["net_to"][device]} != {device}:
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
    if any(raised(figure) for figure in mindspore.values()):
        advice = "Copy to the host before you call asnumpy()."
        return Ruling("does_not_hold", tuple(seen), advice)

    if raised(torch["result_with_tape"]):
        refusal = said(torch["result_with_tape"])
        seen.append(Observation("numpy() of a result on the tape", refusal, ("torch",)))
    # Without the device "meta": it refuses too, but has no numbers that cpu() could bring back.
    by_cpu = torch["elsewhere_by_cpu"]
    if not by_cpu:
        return Ruling(
            "not_checkable_here",
            (*seen, Observation("devices here beside the CPU", "none", ("torch",))),
            "Call asnumpy() in MindSpore; in PyTorch .detach().cpu().numpy() is right on every"
            " device.",
        )
    refused = all(raised(torch["elsewhere"][device]) for device in by_cpu)
    works = not any(raised(figure) for figure in by_cpu.values())
    devices = ", ".join(by_cpu)
    answer, copied = "refused" if refused else "works", "works" if works else "fails"
    seen += [
        Observation(f"numpy() on {devices}", answer, ("torch",), refused),
        Observation(f"cpu().numpy() on {devices}", copied, ("torch",), works),
    ]
    if refused and works:
        return Ruling(
            "holds", tuple(seen), "Call asnumpy() in MindSpore, .detach().cpu().numpy() in PyTorch."
        )
    if not works:
        return Ruling(
            "does_not_hold",
            tuple(seen),
            "Find out how a tensor of your device comes to the host: cpu() does not bring it.",
        )
    return Ruling(
        "does_not_hold",
        tuple(seen),
        "Use .detach().cpu().numpy() in PyTorch all the same; it is right on every device.",
    )


def _asnumpy_seen(figures: Figures) -> Iterator[Observation]:
    """What asnumpy() made of each tensor of MindSpore; those with one outcome are one row."""
    outcomes: dict[str, str] = {}
    for name, figure in figures.items():
        outcomes[name] = said(figure) if raised(figure) else "read at once"
    for names, outcome in grouped(outcomes):
        what = f"asnumpy() of {', '.join(names)}"
        yield Observation(what, outcome, ("mindspore",), outcome == "read at once")
