"""``start``: what a net holds, with the values that a recorded step or training started from."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer.model.arrays import unpack
from explorer.model.engines import Framework
from explorer.model.errors import UsageError
from explorer.model.requests import ParameterSpec, Role
from explorer.model.trace import Start, Trace
from explorer.model.training import Training
from explorer.recording.blocks import framework_in_use
from explorer.recording.files import is_training, read_trace, read_training
from explorer.scenario.pairing import candidates, squeezed
from explorer.text.language import _, named

HOLDERS: dict[Framework, str] = {
    "torch": "explorer.engines.torch.started",
    "mindspore": "explorer.engines.mindspore.started",
}
"""What knows the tensors of a net of each framework, and gives them other values."""

HELD = ("parameter", "buffer")
"""The roles of what a net holds."""

MOST_NAMES = 6
"""The greatest number of tensors that an error names."""


def start(path: str | Path, net: Any, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a net holds, with the values that a trace or a training record started from.

    In PyTorch it is what ``net.load_state_dict`` takes, and in MindSpore what
    ``mindspore.load_param_into_net`` takes: names, layouts and dtypes are the net's own, whichever framework
    the start is of. ``names`` says what a parameter of the net, by its own name, is called in the record; the
    others are paired by equal names and shapes, or else by names, order, kinds and shapes. Raises UsageError
    for a file that cannot be read or has not all values, and for parameters that cannot be paired.
    """
    path = Path(path)
    home = HOLDERS.get(framework_in_use(net) or "jax")
    holder: Any = importlib.import_module(home) if home else None
    if holder is None or not isinstance(net, holder.KIND):
        text = _("start() takes a module of PyTorch or a Cell of MindSpore, got a {type}")
        raise UsageError(text, type=type(net).__name__)
    specs: Sequence[ParameterSpec] = holder.held(net)
    record = read_training(path) if is_training(path) else read_trace(path)
    recorded = {one.name: one for one in held(record)}
    pairs = _paired(specs, recorded, names or {}, path)
    check_whole([recorded[name] for name in pairs.values()], path)
    values = {}
    for spec in specs:
        if spec.path in pairs:
            values[spec.name] = unpack(recorded[pairs[spec.path]].value).reshape(spec.value.shape)
    result: dict[str, Any] = holder.with_values(net, values)
    return result


def held(recorded: Trace | Training) -> tuple[Start, ...]:
    """The parameters and buffers that a recorded step or training started from; UsageError without any."""
    found = tuple(one for one in recorded.start if one.role in HELD)
    if not found:
        text = _("{name} has no parameters in its start; record a step of a net")
        raise UsageError(text, name=repr(recorded.name))
    if recorded.framework == "jax" and isinstance(recorded, Trace):
        text = _(
            "the start in {name} lies as in JAX's program; take that of a training record, which"
            " recorder(training=True) writes"
        )
        raise UsageError(text, name=repr(recorded.name))
    return found


def check_whole(starts: Sequence[Start], path: Path) -> None:
    """Raise UsageError where a record has no more than an excerpt of some tensors."""
    parts = [one for one in starts if one.value.excerpt is not None]
    if parts:
        text = _(
            "{file} has no more than an excerpt of {names}; record a step with record(…, start={size}),"
            " which keeps as many elements of a start"
        )
        size = sum(one.value.size for one in starts)
        raise UsageError(
            text, file=repr(str(path)), names=_few([one.name for one in parts]), size=size
        )


def _paired(
    specs: Sequence[ParameterSpec],
    recorded: Mapping[str, Start],
    names: Mapping[str, str],
    path: Path,
) -> dict[str, str]:
    """The recorded name of each tensor of a net that has one, by the net's own name of it."""
    pairs = _given(specs, recorded, names, path)
    rest = [spec for spec in specs if spec.path not in pairs]
    named_alike = {spec.path: spec.name for spec in rest if _is_like(spec, recorded.get(spec.name))}
    if all(spec.path in named_alike for spec in rest if spec.trainable):
        pairs |= named_alike
    else:
        taken = frozenset(pairs.values())
        pairs |= _in_order(rest, {name: it for name, it in recorded.items() if name not in taken})
    lone = [spec.path for spec in specs if spec.trainable and spec.path not in pairs]
    if lone:
        taken = frozenset(pairs.values())
        left = [name for name, one in recorded.items() if one.trained and name not in taken]
        raise _unclear(lone, left, path)
    return pairs


def _in_order(specs: Sequence[ParameterSpec], recorded: Mapping[str, Start]) -> dict[str, str]:
    """The pairs that names, order, kinds and shapes give; none where they give several."""
    choices = candidates(specs, [_spec(one) for one in recorded.values()])
    sure = [pair for pair in choices[0].pairs if pair.how != "guess"] if len(choices) < 2 else ()
    return {
        pair.mindspore.path: pair.torch.name
        for pair in sure
        if _is_like(pair.mindspore, recorded[pair.torch.name])
    }


def _unclear(lone: Sequence[str], left: Sequence[str], path: Path) -> UsageError:
    text = _(
        "it is not clear which parameters of {file} belong to {names} of the net; say it by"
        " start(…, names={{{example!r}: …}}) with names of the record: {left}"
    )
    return UsageError(
        text,
        file=repr(str(path)),
        names=_few(lone),
        example=lone[0],
        left=_few(left) or _("none"),
    )


def _given(
    specs: Sequence[ParameterSpec],
    recorded: Mapping[str, Start],
    names: Mapping[str, str],
    path: Path,
) -> dict[str, str]:
    """The pairs that were given; UsageError where either side has no such tensor, or another shape."""
    known = {spec.path: spec for spec in specs}
    for name, other in names.items():
        if name not in known:
            text = _("names: the net has no parameter {name}; it has {left}")
            raise UsageError(text, name=repr(name), left=_few(list(known)))
        if not _is_like(known[name], recorded.get(other)):
            fitting = [it for it, one in recorded.items() if _is_like(known[name], one)]
            text = _(
                "names: {file} has no {other} of the shape of {name}, {shape}; of that shape are: {left}"
            )
            raise UsageError(
                text,
                file=repr(str(path)),
                other=repr(other),
                name=repr(name),
                shape=known[name].value.shape,
                left=_few(fitting) or _("none"),
            )
    return dict(names)


def _spec(start: Start) -> ParameterSpec:
    role: Role = "trained" if start.role == "parameter" else "buffer"
    return ParameterSpec(start.name, start.name, role, start.value)


def _is_like(spec: ParameterSpec, start: Start | None) -> bool:
    """Whether the values of a recorded tensor fit in a tensor of a net, but for lengths of 1."""
    return start is not None and squeezed(spec.value.shape) == squeezed(start.value.shape)


def _few(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMES:
        return named(names)
    return _("{names}, …").format(names=named(names[:MOST_NAMES]))
