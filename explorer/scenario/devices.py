"""Devices by name: what may be asked for, and what each framework makes of it."""

import re

import msgspec

from explorer.model.engines import Framework
from explorer.model.errors import UsageError
from explorer.text.choices import refusal

FORMS = ("cpu", "cuda[:N]", "mps", "npu[:N]", "auto")
"""The forms of ``--device``; without a number, the first device of its kind."""

KINDS: dict[Framework, tuple[str, ...]] = {
    "mindspore": ("cpu", "npu"),
    "torch": ("cpu", "cuda", "mps", "npu"),
}
"""The kinds of device that each framework can use at all (MindSpore 2.10.0, PyTorch 2.13.0)."""

PREFERENCE: dict[Framework, tuple[str, ...]] = {
    "mindspore": ("npu", "cpu"),
    "torch": ("cuda", "npu", "mps", "cpu"),
}
"""The kinds that "auto" tries in turn: it takes the first that is there."""

NUMBERED = ("cuda", "npu")
"""Kinds of which a machine may have several."""

# Numbers without leading zeros: one device must not have two spellings.
PATTERN = re.compile(r"(auto|cpu|mps|(?:cuda|npu)(?::(?:0|[1-9][0-9]{0,2}))?)")


class Device(msgspec.Struct, frozen=True):
    """A kind of device and which one of it; ``index`` is None for what there is only one of."""

    kind: str
    index: int | None = None

    def __str__(self) -> str:
        return self.kind if self.index is None else f"{self.kind}:{self.index}"


def parse(text: str) -> Device:
    """The device that ``text`` names: "cuda" is "cuda:0".

    Raises UsageError, which lists the forms, for what is none of them.
    """
    if not PATTERN.fullmatch(text):
        raise UsageError(refusal(f"no device is called {text!r}", text, FORMS))
    kind, _, number = text.partition(":")
    if kind not in NUMBERED:
        return Device(kind)
    return Device(kind, int(number or 0))


def resolve(device: str, framework: Framework, available: tuple[str, ...]) -> str:
    """The device that an engine of ``framework`` gets, in our spelling ("cpu", "cuda:0", "npu:0").

    ``device`` is what was asked for; ``available`` is what the framework's worker can use here, in
    the same spelling. Raises UsageError, which lists that.
    """
    wanted = parse(device)
    usable = [parse(name) for name in available]
    if wanted.kind == "auto":
        wanted = _best(usable, PREFERENCE[framework])
    if wanted in usable:
        return str(wanted)

    # A kind that the framework never heard of is another mistake than one that is not here.
    if wanted.kind in KINDS[framework]:
        reason = f"{framework} finds no {wanted} on this machine"
    else:
        reason = f"{framework} has no {wanted.kind} devices"
    usable_names = ", ".join(map(str, usable)) or "none"
    raise UsageError(
        f"device {device!r}: {reason}; "
        f"its engines can use: {usable_names} (or auto: the best each has)"
    )


def _best(usable: list[Device], preference: tuple[str, ...]) -> Device:
    """The lowest device of the first kind in ``preference`` that is usable; else the CPU."""
    for kind in preference:
        of_this_kind = [device for device in usable if device.kind == kind]
        if of_this_kind:
            return min(of_this_kind, key=lambda device: device.index or 0)
    return Device("cpu")
