"""JAX's computation of a case once more, with the other side's values in the places of its own."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.net import built
from explorer.engines.jax.recording import Origin, Record
from explorer.engines.jax.styles import STYLES
from explorer.engines.jax.trials import Trials
from explorer.model.arrays import Array, unpack
from explorer.model.mended import MendedRequest, MendedRun
from explorer.numeric.summaries import MOST, MOST_IN_GRAPH, keeping


@keeping(MOST, MOST_IN_GRAPH)
def capture_mended(request: MendedRequest) -> MendedRun:
    """The graph of a case in which some nodes yield other values, and trials on it."""
    case = request.request
    engine = STYLES[case.net.engine]
    with built(case.net) as net:
        asked, recording = engine.recorded(case, net)
        plain = RecordedGradGraph(recording, str(net.scenario.path), values=False)
        numbers = plain.records_by_id()
        values = {(numbers[one.node], one.output): one.value for one in request.put_in}
        leaves = {**net.parameters, **net.inputs}
        again = recording.run_again(leaves, change=_PutIn(values))
        drawn = RecordedGradGraph(again, str(asked.net.scenario.path), values=True)
        trials = Trials(again, numbers)
        record = drawn.record(case.net.engine, case.case.label, engine.STAGE)
        return MendedRun(record, trials.made(request.trials))


class _PutIn:
    """Puts values in the places of outputs, by the numbers of their records; None: zeros."""

    def __init__(self, values: Mapping[Origin, Array | None]) -> None:
        self._values = values

    def __call__(
        self, number: int, record: Record, values: list[Any], outputs: list[Any]
    ) -> list[Any]:
        """The outputs of an operation, some of them replaced."""
        del record, values
        return [
            self._put(self._values[number, place], output)
            if (number, place) in self._values
            else output
            for place, output in enumerate(outputs)
        ]

    def _put(self, value: Array | None, output: Any) -> Any:
        if value is None:
            return jnp.zeros_like(output)
        return jnp.asarray(unpack(value).reshape(output.shape), output.dtype)
