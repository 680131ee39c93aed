"""Claims about devices: what moves, and what the host can read (rows 37, 38)."""

from typing import Any

from explorer.model.claim import Ruling
from explorer.topics.attempts import raised, said
from explorer.topics.devices import MEASUREMENTS
from explorer.topics.evidence import Evidence
from explorer.topics.topic import Claim


def moving(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch moves tensor and net and MindSpore refuses a second device; with changes
    where it can move a tensor.
    """
    torch, mindspore = evidence["devices.moves.torch"], evidence["devices.moves.mindspore"]
    moves = all(name == place for name, place in torch["tensor_to"].items()) and all(
        set(places) == {name} for name, places in torch["net_to"].items()
    )
    again, fixed = mindspore["set_device_again"], raised(mindspore["set_device_again"])
    by_hand = [f"Tensor.{name}" for name in mindspore["tensor_api"] if name != "to"]
    told = (
        f".to took tensor and net to {', '.join(torch['tensor_to'])} in PyTorch: {'yes' if moves else 'no'}; a second "
        f"set_device in MindSpore: {said(again) if fixed else 'taken'}; to move a tensor it has {', '.join(by_hand) or 'nothing'}"
    )
    if not moves:
        return Ruling(
            "does_not_hold",
            told,
            "Check where your tensors are: `.to` does not take everything along.",
        )
    if not fixed:
        return Ruling(
            "outdated",
            told,
            "MindSpore takes another device in a running process now; set it where you need it.",
        )
    if by_hand:
        return Ruling(
            "holds_with_changes",
            told,
            "Choose the device once with set_device, before anything runs; a single tensor can be moved with Tensor.move_to "
            "between that device and the host.",
        )
    return Ruling(
        "holds",
        told,
        "Choose the device once, before anything runs, and leave out every `.to(device)`.",
    )


def host(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Needs a device other than the CPU in PyTorch: then holds when numpy() is refused there and
    works after cpu().
    """
    torch, mindspore = evidence["devices.host.torch"], evidence["devices.host.mindspore"]
    unread = [name for name, figure in mindspore.items() if raised(figure)]
    by_cpu = torch["elsewhere_by_cpu"]
    told = f"asnumpy() read {', '.join(name for name in mindspore if name not in unread) or 'nothing'} at once"
    if unread:
        told += f"; not {', '.join(f'{name} ({said(mindspore[name])})' for name in unread)}"
        return Ruling("does_not_hold", told, "Copy to the host before you call asnumpy().")
    told += (
        f"; on PyTorch's tape numpy() says {said(torch['result_with_tape'])}"
        if raised(torch["result_with_tape"])
        else ""
    )
    if not by_cpu:
        return Ruling(
            "not_checkable_here",
            f"{told}; there is no GPU here that PyTorch could read from",
            "Call asnumpy() in MindSpore; in PyTorch .detach().cpu().numpy() is right on every device.",
        )
    refused = all(raised(torch["elsewhere"][name]) for name in by_cpu)
    fine = not any(raised(figure) for figure in by_cpu.values())
    told += f"; on {', '.join(by_cpu)} numpy() is {'refused' if refused else 'taken'} and works after cpu(): {fine}"
    if refused and fine:
        return Ruling(
            "holds", told, "Call asnumpy() in MindSpore, .detach().cpu().numpy() in PyTorch."
        )
    return Ruling(
        "does_not_hold",
        told,
        "Use .detach().cpu().numpy() in PyTorch all the same; it is right on every device.",
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=37,
        topic="devices",
        guides=("000", "001"),
        statement="PyTorch moves model and data with .to(device); MindSpore sets one device for the process and cannot move "
        "afterwards.",
        would=".to works after use, a second set_device is refused, and a MindSpore tensor has nothing to move it.",
        measurements=(MEASUREMENTS["moves.mindspore"], MEASUREMENTS["moves.torch"]),
        judge=moving,
    ),
    Claim(
        id=38,
        topic="devices",
        guides=("000", "001"),
        statement="MindSpore's outputs are readable with asnumpy() at once; PyTorch needs .cpu() first on a GPU.",
        would="asnumpy() reads a result; numpy() on a GPU tensor raises, and works after .cpu().",
        measurements=(MEASUREMENTS["host.mindspore"], MEASUREMENTS["host.torch"]),
        judge=host,
    ),
)
