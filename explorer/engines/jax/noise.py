"""The noise of JAX's results and nodes: the same operations again, each of which rounds otherwise."""

from collections.abc import Iterator

import jax
import msgspec
import numpy as np

from explorer.engines.jax.captures import Recorded, result_of
from explorer.engines.jax.gradient_calls import Question
from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.net import built
from explorer.engines.jax.recording import Record, Recording
from explorer.engines.jax.styles import STYLES
from explorer.engines.jax.tensors import array_of
from explorer.engines.jax.versions import enable_x64
from explorer.engines.noise import JITTERS, noisy_graphs, result_noise, returned_outputs
from explorer.model.arrays import AnyArray
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured, ResultNoise

WIDER = {"float32": "float64", "float16": "float64", "bfloat16": "float64"}
"""The dtypes of which it is known which elements an operation rounds."""


STEPS = frozenset({"floor", "ceil", "round"})
"""Operations whose value jumps."""


class RandomRounding:
    """Moves each element that an operation rounded to a neighbour, or not, at random.

    An element that is exact stays: the same operation in float64 shows which are. As in stochastic
    arithmetic: CADNA (Jezequel and Chesneaux, 2008). Where the value of an operation jumps, it is the
    recorded one: rounding would decide between numbers that are far apart.
    """

    def __init__(self, sample: int) -> None:
        self._draws = np.random.default_rng(sample)

    def __call__(
        self, number: int, record: Record, values: list[object], outputs: list[object]
    ) -> list[object]:
        """The outputs of an operation with their rounded elements moved."""
        del number
        if record.primitive and (record.primitive.name in STEPS or _is_cut(record, values)):
            return list(record.outputs)
        exact = _in_float64(record, values) if record.primitive else []
        moved = []
        for place, output in enumerate(outputs):
            right = exact[place] if place < len(exact) else None
            moved.append(output if right is None else self._moved(output, right))
        return moved

    def _moved(self, output: object, exact: AnyArray) -> object:
        array = array_of(output)
        if str(output.dtype) not in WIDER or array.shape != exact.shape:  # type: ignore[attr-defined]
            return output
        rounded = (array.astype(np.float64) != exact) & np.isfinite(array) & (array != 0)
        if not rounded.any():
            return output
        steps = self._draws.integers(-1, 2, array.shape) * rounded
        own = np.asarray(output)
        bits = own.view(f"int{own.dtype.itemsize * 8}")
        return jax.numpy.asarray((bits + steps).astype(bits.dtype).view(own.dtype))


def _is_cut(record: Record, values: list[object]) -> bool:
    """Whether an operation turns floats into integers."""
    dtypes = [str(getattr(it, "dtype", "")) for it in (*values[:1], *record.outputs)]
    is_cast = record.primitive.name == "convert_element_type" and len(dtypes) == 2
    return is_cast and dtypes[0] in WIDER and dtypes[1].startswith(("int", "uint"))


def _in_float64(record: Record, values: list[object]) -> list[AnyArray]:
    """What an operation yields in float64; nothing where it cannot be computed so."""
    params = {name: _wide_dtype(value) for name, value in record.params.items()}
    wide = Record(
        record.primitive,
        params,
        tuple(map(_wide, record.operands)),
        record.origins,
        [],
        record.place,
        record.kind,
        record.phase,
    )
    try:
        with enable_x64(True):
            return [np.asarray(it) for it in wide.computed(list(map(_wide, values)))]
    except Exception:
        return []  # a loop, whose programs have dtypes of their own


def _wide(value: object) -> object:
    """An array of floats in float64; anything else as it is."""
    dtype = str(getattr(value, "dtype", ""))
    return np.asarray(value).astype(np.float64) if dtype in WIDER else value


def _wide_dtype(value: object) -> object:
    return np.dtype(np.float64) if isinstance(value, np.dtype) and value.name in WIDER else value


def results(request: CaseRequest) -> ResultNoise:
    """The noise of the answer to one case, leaf by leaf."""
    engine = STYLES[request.net.engine]
    plain = engine.answer(request)
    if plain.outcome != "ok":
        return result_noise(plain, [])
    moved = [
        result_of(request, asked, recording)
        for asked, recording in _moved_recordings(request, engine.recorded)
    ]
    noise = result_noise(plain, [moved])
    return msgspec.structs.replace(noise, outputs=returned_outputs(plain, request.case))


def capture(request: CaseRequest) -> Captured:
    """The graph of one case with the noise of every node."""
    engine = STYLES[request.net.engine]
    plain: Captured = engine.capture(request)
    if not plain.graphs:
        return plain
    moved = []
    for asked, recording in _moved_recordings(request, engine.recorded):
        drawn = RecordedGradGraph(recording, str(asked.net.scenario.path), values=True)
        record = drawn.record(request.net.engine, request.case.label, plain.graphs[-1].stage)
        moved.append(Captured((record,), plain.result))
    return noisy_graphs(plain, [moved])


def _moved_recordings(
    request: CaseRequest, recorded: Recorded
) -> Iterator[tuple[Question, Recording]]:
    """The recording of a case on other starts, each operation of which rounds otherwise."""
    for sample in range(1, JITTERS + 1):
        net_request = msgspec.structs.replace(request.net, jitter=sample)
        with built(net_request) as net:
            asked, recording = recorded(request, net)
            leaves = {**net.parameters, **net.inputs}
            yield asked, recording.run_again(leaves, change=RandomRounding(sample))
