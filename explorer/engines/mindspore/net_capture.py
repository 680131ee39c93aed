"""The tape of one net of a scenario as a gradient graph: its inputs, parameters, outputs and state."""

from collections.abc import Sequence
from typing import Any

import mindspore as ms

from explorer.engines.capture.builder import Slot
from explorer.engines.mindspore.net import Net, dtype_of
from explorer.engines.mindspore.state import add_state, moved, snapshot
from explorer.engines.mindspore.tape_capture import TapeCapture
from explorer.engines.mindspore.tape_tensors import on_tape


class NetCapture(TapeCapture):
    """The graph of a net; ``start`` has the floating parameters that are not trained, as they were."""

    def __init__(self, net: Net, values: bool) -> None:
        super().__init__(values)
        self.start = snapshot(net)
        self._net = net
        self._assigned: dict[str, Slot] = {}
        for name, tensor in net.inputs.items():
            self._add_leaf("input", name, tensor)
        for name, parameter in net.parameters.items():
            self._add_leaf("parameter", name, parameter)
            if name in self.start:
                self.graph.set_value(self._leaves[name], self.start[name])

    def assigned(self, tensor: Any, value: Any) -> Slot:
        """A tensor was assigned the ``value`` of another one: from now on it comes from that slot."""
        slot = super().assigned(tensor, value)
        for name, parameter in self._net.parameters.items():
            if parameter is tensor:
                self._assigned[name] = slot
        return slot

    def enter(self, arguments: Sequence[Any]) -> None:
        """The net is called with ``arguments``: its inputs, or wrappers of them."""
        for tensor, argument in zip(self._net.inputs.values(), arguments, strict=True):
            slot = self._origins.slot(tensor)
            if slot is not None:
                self._origins.alias(argument, slot)
            self._origin(on_tape(argument))

    def add_outputs(self, outputs: list[Any]) -> None:
        """Add nodes for what the net returned."""
        names = self._net.scenario.outputs(len(outputs))
        for name, output in zip(names, outputs, strict=True):
            # A net may return a plain number.
            tensor = output if isinstance(output, ms.Tensor) else ms.Tensor(output)
            slot = self._origin(on_tape(tensor))
            self.graph.add_tensors("output", "output", "forward", (slot,), [tensor], name=name)

    def add_state(self) -> None:
        """Add nodes for the parameters that the call has changed."""
        state = moved(self._net, self.start)
        dtypes = [dtype_of(self._net.parameters[name]) for name in state]
        values = self.graph.has_values
        overwritten = add_state(self.graph, dtypes, state, values, self._assigned)
        self._overwritten.update(overwritten)
