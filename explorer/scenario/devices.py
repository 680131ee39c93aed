"""Devices by name: which names are allowed, and which device each framework uses for them."""

import re
from collections.abc import Mapping
from typing import TypeVar, cast

import msgspec

from explorer.model.engines import Framework, plain
from explorer.model.errors import UsageError
from explorer.text.choices import refusal
from explorer.text.language import _, named

Party = TypeVar("Party", bound=str)
"""A framework, or one in an environment: "torch@torch26"."""

CPU, AUTO = "cpu", "auto"
"""The device that every framework has, and the name for the best device of each framework."""

FORMS = (CPU, "cuda[:N]", "mps", "npu[:N]", AUTO)
"""The forms of ``--device``; without a number, the first device of its kind."""

KINDS: dict[Framework, tuple[str, ...]] = {
    "mindspore": ("cpu", "npu"),
    "torch": ("cpu", "cuda", "mps", "npu"),
    "jax": ("cpu", "cuda", "tpu"),
}
"""The kinds of device that each framework can use at all (MindSpore 2.10.0, PyTorch 2.13.0, JAX 0.6.2)."""

PREFERENCE: dict[Framework, tuple[str, ...]] = {
    "mindspore": ("npu", "cpu"),
    "torch": ("cuda", "npu", "mps", "cpu"),
    "jax": ("tpu", "cuda", "cpu"),
}
"""The kinds that "auto" tries in turn: it takes the first that is there."""

OTHER_NAMES = {"gpu": "cuda[:N]", "ascend": "npu[:N]"}
"""What MindSpore and its users call devices, and the form that is meant by it."""

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

    Raises UsageError, which lists the allowed forms, for any other text.
    """
    kind, __, number = text.partition(":")
    if not PATTERN.fullmatch(text):
        meant = OTHER_NAMES.get(kind.casefold(), text)
        fact = _("unknown device {given!r}").format(given=text)
        raise UsageError(refusal(fact, meant, FORMS))
    if kind not in NUMBERED:
        return Device(kind)
    return Device(kind, int(number or 0))


def assign(device: str, available: Mapping[Party, tuple[str, ...]]) -> dict[Party, str]:
    """The device that the engines of each framework get, in our spelling ("cpu", "cuda:0", "npu:0").

    ``device`` is the one requested; ``available`` is what the worker of each framework that takes
    part, in each of its environments, can use here, in the same spelling. Raises UsageError, which
    lists, for each framework that cannot use it, what it can use instead, and the frameworks that can.
    """
    wanted = parse(device)
    assigned: dict[Party, str] = {}
    refusals: list[str] = []
    for party, names in available.items():
        framework = cast("Framework", plain(party))
        usable = [parse(name) for name in names]
        chosen = _best(usable, PREFERENCE[framework]) if wanted.kind == AUTO else wanted
        if chosen in usable:
            assigned[party] = str(chosen)
        else:
            refusals.append(_refusal(chosen, framework, usable))
    if not refusals:
        return assigned
    remedy = _("use device auto for the best one of each framework")
    if assigned:
        either = _("run only the engines of {frameworks}, which can use it, or {remedy}")
        remedy = either.format(frameworks=_(" and ").join(assigned), remedy=remedy)
    text = _("device {device!r}: {reasons}; {remedy}")
    raise UsageError(text, device=device, reasons=_("; ").join(refusals), remedy=remedy)


def _refusal(device: Device, framework: Framework, usable: list[Device]) -> str:
    """Why a framework cannot use a device, and what it can use."""
    # A kind that the framework does not support is another mistake than one that is missing here.
    text = _("{framework} does not support {kind} devices (it can use {usable})")
    if device.kind in KINDS[framework]:
        text = _("{framework} finds no {device} on this machine (it can use {usable})")
    names = named(list(map(str, usable))) or _("none")
    return text.format(framework=framework, kind=device.kind, device=device, usable=names)


def _best(usable: list[Device], preference: tuple[str, ...]) -> Device:
    """The lowest device of the first kind in ``preference`` that is usable; else the CPU."""
    for kind in preference:
        of_this_kind = [device for device in usable if device.kind == kind]
        if of_this_kind:
            return min(of_this_kind, key=lambda device: device.index or 0)
    return Device("cpu")
