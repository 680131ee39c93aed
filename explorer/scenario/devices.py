"""Devices by name: what may be asked for, what each framework makes of it, and which of them an
engine gets.
"""

import re

import msgspec

from explorer.model.engines import Framework
from explorer.model.errors import UsageError
from explorer.text.choices import refusal

FORMS = ("cpu", "cuda[:N]", "mps", "npu[:N]", "auto")
"""What ``--device`` takes; without a number, the first of its kind."""

NATIVE: dict[Framework, dict[str, str]] = {
    "mindspore": {"cpu": "CPU", "npu": "Ascend"},
    "torch": {"cpu": "cpu", "cuda": "cuda", "mps": "mps", "npu": "npu"},
}
"""What each framework calls a kind of device (MindSpore 2.10.0, PyTorch 2.13.0); a kind that is not
here it cannot use at all.
"""

PREFERENCE: dict[Framework, tuple[str, ...]] = {
    "mindspore": ("npu", "cpu"),
    "torch": ("cuda", "npu", "mps", "cpu"),
}
"""What "auto" takes: the first kind that is there."""

NUMBERED = ("cuda", "npu")
PATTERN = re.compile(r"(auto|cpu|mps|(?:cuda|npu)(?::(?:0|[1-9][0-9]{0,2}))?)")


class Device(msgspec.Struct, frozen=True):
    """A kind of device and which one of it; ``index`` is None where a kind has only one, and for
    "auto".
    """

    kind: str
    index: int | None = None

    def __str__(self) -> str:
        return self.kind if self.index is None else f"{self.kind}:{self.index}"


def parse(text: str) -> Device:
    """The device that ``text`` names: "cuda" is "cuda:0"; UsageError lists the forms for what is
    none of them.
    """
    if not PATTERN.fullmatch(text):
        raise UsageError(refusal(f"no device is called {text!r}", text, FORMS))
    kind, _, number = text.partition(":")
    return Device(kind, int(number or 0) if kind in NUMBERED else None)


def resolve(device: str, framework: Framework, available: tuple[str, ...]) -> str:
    """The device that an engine of ``framework`` gets for what was asked, in our spelling ("cpu",
    "cuda:0", "npu:0", "mps").

    ``available`` is what the framework's worker can use here, in the same spelling. Raises
    UsageError, which lists that.
    """
    asked = parse(device)
    usable = [Device(*_parts(name)) for name in available]
    if asked.kind == "auto":
        order = PREFERENCE[framework]
        known = (each for each in usable if each.kind in order)
        asked = min(
            known, key=lambda each: (order.index(each.kind), each.index or 0), default=Device("cpu")
        )
    if asked in usable:
        return str(asked)
    unknown = asked.kind not in NATIVE[framework]
    why = (
        f"{framework} has no {asked.kind} devices"
        if unknown
        else f"{framework} finds no {asked} on this machine"
    )
    usable_here = ", ".join(map(str, usable)) or "none"
    raise UsageError(
        f"device {device!r}: {why}; its engines can use: {usable_here} (or auto: the best each has)"
    )


def _parts(name: str) -> tuple[str, int | None]:
    device = parse(name)
    return device.kind, device.index
