"""Claims about devices: what moves, and what the host can read (rows 37 and 38)."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.model.measurement import Figures
from explorer.topics.attempts import raised, said
from explorer.topics.devices.questions import HOST, MOVES, TOPIC
from explorer.topics.evidence import Evidence


@TOPIC.claim(
    37,
    "PyTorch moves model and data with .to(device); MindSpore sets one device for the process and"
    " cannot move afterwards.",
    heading="devices",
    guides=("000", "001"),
    sections={"000": "torch.device"},
    would=(
        ".to works after use, a second set_device is refused, and a MindSpore tensor has nothing to"
        " move it."
    ),
    asks=(MOVES,),
)
def moving(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch moves tensor and net, and MindSpore refuses a second device.

    It holds with changes where MindSpore can move a tensor, and is outdated where it takes a second
    device.
    """
    torch, mindspore = evidence[MOVES]["torch"], evidence[MOVES]["mindspore"]
    moves = moves_everything(torch)
    again = mindspore["set_device_again"]
    again_answer = said(again) if raised(again) else "taken"
    # MindSpore's Tensor.to converts the dtype (2.10.0).
    by_hand = [f"Tensor.{name}" for name in mindspore["tensor_api"] if name != "to"]
    yes_or_no = "yes" if moves else "no"
    seen = (
        f".to took tensor and net to {', '.join(torch['tensor_to'])} in PyTorch: {yes_or_no};"
        f" a second set_device in MindSpore: {again_answer};"
        f" to move a tensor it has {', '.join(by_hand) or 'nothing'}"
    )
    if not moves:
        return Ruling(
            "does_not_hold",
            seen,
            "Check where your tensors are: `.to` does not take everything along.",
        )
    if not raised(again):
        return Ruling(
            "outdated",
            seen,
            "MindSpore takes another device in a running process now; set it where you need it.",
        )
    if by_hand:
        return Ruling(
            "holds_with_changes",
            seen,
            "Choose the device once with set_device, before anything runs; a single tensor can be"
            " moved with Tensor.move_to between that device and the host.",
        )
    return Ruling(
        "holds",
        seen,
        "Choose the device once, before anything runs, and leave out every `.to(device)`.",
    )


def moves_everything(figures: Figures) -> bool:
    """Whether `.to` took the tensor, and every parameter of the net, to the device it names."""
    for device, place in figures["tensor_to"].items():
        if place != device:
            return False
    # A net's `.to` is in place and goes parameter by parameter, so one could be left behind.
    return all(set(places) == {device} for device, places in figures["net_to"].items())


@TOPIC.claim(
    38,
    "MindSpore's outputs are readable with asnumpy() at once; PyTorch needs .cpu() first on a GPU.",
    heading="devices",
    guides=("000", "001"),
    sections={"000": "torch.device"},
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
