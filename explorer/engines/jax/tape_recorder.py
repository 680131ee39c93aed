"""Records the operations of JAX as they run one by one, the forward's and those of the backward pass."""

from typing import Any

import numpy as np
from jax._src import source_info_util

from explorer.engines.jax.eager_trace import EagerTrace
from explorer.engines.jax.programs import Operation, opened
from explorer.engines.jax.recording import Origin, Place, Recording, run
from explorer.model.graph import NodeKind, Phase


class Recorder(EagerTrace):
    """Records every operation: an array is known by its identity; ``recording`` has what ran."""

    def __init__(self) -> None:
        super().__init__()
        self.recording = Recording()
        # The arrays are kept, so that no other gets the identity of one.
        self._known: dict[int, tuple[Origin, Any]] = {}

    def add_array(self, value: Any, kind: NodeKind, name: str, phase: Phase = "forward") -> None:
        """Give an input or a parameter its name; an array under two names has the first."""
        if id(value) not in self._known:
            self._known[id(value)] = self.recording.add_array(value, kind, name, phase), value

    def origin(self, value: Any) -> Origin | None:
        """Where an array comes from; None if no operation made it."""
        known = self._known.get(id(value))
        return None if known is None else known[0]

    def process_primitive(self, primitive: Any, operands: Any, params: Any) -> Any:
        """Run an operation and record it."""
        outputs = run(primitive, operands, params)
        origins = [self._origin_of_operand(operand) for operand in operands]
        place = Place().inner(source_info_util.current())
        first = len(self.recording.records)
        known = list(zip(origins, operands, strict=True))
        found = opened(self.recording, Operation(primitive, params, known, place))
        if found is None:
            made = self.recording.add(primitive, params, operands, origins, outputs, place)
        else:
            made = self.recording.as_returned(found, first, outputs)
        for origin, output in zip(made, outputs, strict=True):
            if origin is not None:
                self._known[id(output)] = origin, output
        return outputs if primitive.multiple_results else outputs[0]

    def _origin_of_operand(self, operand: Any) -> Origin | None:
        """Where an operand comes from: an array that nobody has made is a constant, a number is none."""
        origin = self.origin(operand)
        if origin is None and np.ndim(operand):
            origin = self.recording.add_array(operand, "constant")
            self._known[id(operand)] = origin, operand
        return origin
