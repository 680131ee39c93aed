"""Claims about devices: what moves, and what the host can read (rows 37 and 38)."""

from typing import Any

from explorer.model.claim import Ruling
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
    seen = _devices_seen(torch, mindspore)
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
        return Ruling(
            "not_checkable_here", f"{seen} (needs a second device)", _with_one_device(mindspore)
        )
    return Ruling(
        "holds",
        seen,
        "Choose the device once, before anything runs, and leave out every `.to(device)`.",
    )


def _devices_seen(torch: Figures, mindspore: Figures) -> str:
    """The devices of both frameworks, and what each call of MindSpore did with them."""
    again = mindspore["set_device_again"]
    return (
        f"PyTorch has {', '.join(torch['usable']) or 'nothing'} beside the CPU, MindSpore"
        f" {', '.join(mindspore['available']) or 'nothing'} beside the {mindspore['target']};"
        f" a second set_device in MindSpore: {said(again) if raised(again) else 'taken'};"
        f" {_moves_seen(mindspore)}"
    )


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


def _moves_seen(figures: Figures) -> str:
    """What each call of MindSpore did with each kind of device."""
    sentences = []
    for kind, places in figures["moved"].items():
        for calls, place in grouped(places):
            outcome = said(place) if raised(place) else f"on {place}"
            sentences.append(f"{' and '.join(calls)} with {kind}: {outcome}")
    return "; ".join(sentences)


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
    seen = what_asnumpy_read(mindspore)
    if any(raised(figure) for figure in mindspore.values()):
        return Ruling("does_not_hold", seen, "Copy to the host before you call asnumpy().")

    if raised(torch["result_with_tape"]):
        seen += f"; on PyTorch's tape numpy() says {said(torch['result_with_tape'])}"
    # Without the device "meta": it refuses too, but has no numbers that cpu() could bring back.
    by_cpu = torch["elsewhere_by_cpu"]
    if not by_cpu:
        return Ruling(
            "not_checkable_here",
            f"{seen}; there is no GPU here that PyTorch could read from",
            "Call asnumpy() in MindSpore; in PyTorch .detach().cpu().numpy() is right on every"
            " device.",
        )
    refused = all(raised(torch["elsewhere"][device]) for device in by_cpu)
    works = not any(raised(figure) for figure in by_cpu.values())
    answer = "refused" if refused else "taken"
    seen += f"; on {', '.join(by_cpu)} numpy() is {answer} and works after cpu(): {works}"
    if refused and works:
        return Ruling(
            "holds", seen, "Call asnumpy() in MindSpore, .detach().cpu().numpy() in PyTorch."
        )
    if not works:
        return Ruling(
            "does_not_hold",
            seen,
            "Find out how a tensor of your device comes to the host: cpu() does not bring it.",
        )
    return Ruling(
        "does_not_hold",
        seen,
        "Use .detach().cpu().numpy() in PyTorch all the same; it is right on every device.",
    )


def what_asnumpy_read(figures: Figures) -> str:
    """The tensors of MindSpore that asnumpy() read at once, and its messages for the others."""
    readable = []
    refusals = []
    for name, figure in figures.items():
        if raised(figure):
            refusals.append(f"{name} ({said(figure)})")
        else:
            readable.append(name)
    seen = f"asnumpy() read {', '.join(readable) or 'nothing'} at once"
    return f"{seen}; not {', '.join(refusals)}" if refusals else seen
