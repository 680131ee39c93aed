"""Workers that say which devices there are, and no more: nothing is computed there."""

import msgspec

from explorer.model.engines import ENGINES, Framework, WorkerKind, framework_of
from explorer.model.failures import Loss
from explorer.model.measurement import Measurement
from explorer.model.requests import CaseRequest, Description, NetRequest, OutputSpec
from explorer.model.results import About
from explorer.workers.protocol import Lost
from explorer.workers.workers import Reply, Workers

ONE_NUMBER = Description(outputs=(OutputSpec((), "float32"),), returned="out")
"""The first look at a net without parameters that returns a number."""


class FakeDevices(Workers):
    """Workers of a machine with made-up devices.

    Their answer about devices is a list; what they are asked to compute is noted in ``asked_on``, by
    engine or by measurement, and computed on the CPU by ``real`` workers. Without any, a net has one
    output and no parameters, and answers are lost.
    """

    def __init__(
        self,
        mindspore: tuple[str, ...] = ("cpu",),
        torch: tuple[str, ...] = ("cpu",),
        real: Workers | None = None,
    ) -> None:
        super().__init__()
        self.there: dict[Framework, tuple[str, ...]] = {"mindspore": mindspore, "torch": torch}
        self.asked_on: dict[str, set[str]] = {}
        self._real = real

    def call(
        self, kind: WorkerKind, target: str, argument: msgspec.Struct, reply: type[Reply]
    ) -> Reply | Lost:
        """As Workers.call, with the made-up devices."""
        framework = framework_of(kind)
        if framework and target.endswith(".about:about"):
            about = About({framework: "made up"}, self.there[framework])
            return msgspec.convert(about, reply, from_attributes=True)
        self._note(target, argument)
        if self._real is not None:
            return self._real.call(kind, target, on_cpu(argument), reply)
        if target.endswith(":describe"):
            return msgspec.convert(ONE_NUMBER, reply, from_attributes=True)
        return Lost("crashed", Loss(kind="closed"))

    def limited(self, seconds: float) -> "Workers":
        """The same workers: nothing takes long."""
        return self

    def _note(self, target: str, argument: msgspec.Struct) -> None:
        if isinstance(argument, Measurement):
            self.asked_on.setdefault(argument.name, set()).add(argument.device)
        net = getattr(argument, "net", argument)
        # The oracle runs PyTorch's net on the CPU whatever is asked for.
        if isinstance(net, NetRequest) and target.startswith(ENGINES[net.engine].module):
            self.asked_on.setdefault(net.engine, set()).add(net.device)


def on_cpu(argument: msgspec.Struct) -> msgspec.Struct:
    """A request as it would be on the CPU."""
    if isinstance(argument, CaseRequest):
        net = msgspec.structs.replace(argument.net, device="cpu")
        return msgspec.structs.replace(argument, net=net)
    if isinstance(argument, NetRequest | Measurement):
        return msgspec.structs.replace(argument, device="cpu")
    return argument
