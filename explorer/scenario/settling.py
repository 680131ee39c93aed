"""The two nets of a scenario made to start alike: a first look at each, the checks on both, one set
of starting values.
"""

from collections.abc import Mapping

import msgspec

from explorer.model.arrays import Array, pack
from explorer.model.engines import ENGINES, FRAMEWORKS, Framework
from explorer.model.errors import ScenarioError
from explorer.model.requests import Description, NetRequest
from explorer.scenario.contract import Scenario
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

FIRST_LOOK = ("torch-tape", "mindspore-tape", "torch-graph", "mindspore-graph")
"""Which engine of a framework looks first: a tape says most directly where a forward goes wrong."""


class Nets(msgspec.Struct, frozen=True):
    """What every engine is to build, the starting values by PyTorch's names, and the frameworks
    whose first look was lost.

    ``trainable`` names the weights in the order in which they are asked for; ``outputs`` counts
    what the forward returns.
    """

    requests: dict[str, NetRequest]
    parameters: dict[str, Array]
    trainable: tuple[str, ...]
    outputs: int
    lost: dict[Framework, Lost]


def settle(
    scenario: Scenario, workers: Workers, engines: tuple[str, ...], devices: Mapping[str, str]
) -> Nets:
    """Look at the net of each framework once, and give all engines the same start.

    ``engines`` are those whose net the scenario defines; ``devices`` says where each runs. Raises
    ScenarioError when a forward raises, or when the nets' parameters or outputs do not correspond.
    """
    seen: dict[Framework, Description] = {}
    lost: dict[Framework, Lost] = {}
    for framework in _looked_at(scenario, engines):
        name = next(name for name in FIRST_LOOK if ENGINES[name].framework == framework)
        request = NetRequest(
            scenario=str(scenario.path), engine=name, device=devices.get(name, "cpu")
        )
        reply = workers.call(framework, f"{ENGINES[name].module}:describe", request, Description)
        if isinstance(reply, Lost):
            lost[framework] = reply
            continue
        if reply.error:
            where = reply.error.source or str(scenario.path)
            raise ScenarioError(
                f"{where}: the {framework} net raises in forward: {reply.error.type}: {reply.error.message}"
            )
        seen[framework] = reply
    _same_parameters(scenario, seen)
    outputs = _outputs(scenario, seen)
    start = _start(scenario, seen)
    trainable = _trainable(seen)
    requests = {
        name: NetRequest(
            scenario=str(scenario.path),
            engine=name,
            device=devices[name],
            parameters=start,
            trainable=trainable,
        )
        for name in engines
    }
    return Nets(requests, start, trainable, outputs, lost)


def _looked_at(scenario: Scenario, engines: tuple[str, ...]) -> list[Framework]:
    """PyTorch first; it is looked at whenever its net gives the other its starting values."""
    asked = {ENGINES[name].framework for name in engines}
    if scenario.defines("torch") and scenario.parameters() is None:
        asked.add("torch")
    return [framework for framework in reversed(FRAMEWORKS) if framework in asked]


def _trainable(seen: Mapping[Framework, Description]) -> tuple[str, ...]:
    description = seen.get("torch") or seen.get("mindspore") or Description()
    return tuple(spec.name for spec in description.parameters if spec.trainable)


def _same_parameters(scenario: Scenario, seen: Mapping[Framework, Description]) -> None:
    shapes = {
        framework: {
            spec.name: spec.value.shape for spec in description.parameters if spec.trainable
        }
        for framework, description in seen.items()
    }
    if len(shapes) < len(FRAMEWORKS) or shapes["mindspore"] == shapes["torch"]:
        return
    own = {spec.name: spec.own_name for spec in seen["mindspore"].parameters}
    lists = {
        framework: ", ".join(
            f"{name} {shape}" + _known_as(own.get(name, name), name)
            for name, shape in names.items()
        )
        or "none"
        for framework, names in shapes.items()
    }
    raise ScenarioError(
        f"{scenario.path}: the parameters of the two nets do not correspond. MindSpore has: {lists['mindspore']}. "
        f"PyTorch has: {lists['torch']}. Give both the same shapes, and name pairs in "
        'PARAMETER_NAMES = {"mindspore name": "torch name"}'
    )


def _known_as(own: str, name: str) -> str:
    return f" (there {own})" if own != name else ""


def _outputs(scenario: Scenario, seen: Mapping[Framework, Description]) -> int:
    counts = {framework: len(description.outputs) for framework, description in seen.items()}
    if len(set(counts.values())) > 1:
        told = " and ".join(
            f"the {framework} net returns {count}" for framework, count in counts.items()
        )
        raise ScenarioError(f"{scenario.path}: {told} outputs; return the same number from both")
    return max(counts.values(), default=0)


def _start(scenario: Scenario, seen: Mapping[Framework, Description]) -> dict[str, Array]:
    described = seen.get("torch") or seen.get("mindspore") or Description()
    given = scenario.parameters()
    if given is None:
        return {spec.name: spec.value for spec in described.parameters}
    known = {spec.name: spec.value.shape for spec in described.parameters}
    for name, value in given.items():
        if known and name not in known:
            have = ", ".join(known)
            raise ScenarioError(
                f"{scenario.path}: parameters() gives {name!r}, which no net has; the nets have {have}"
            )
        if name in known and value.shape != known[name]:
            raise ScenarioError(
                f"{scenario.path}: parameters()[{name!r}] has shape {value.shape}; the nets have {known[name]}"
            )
    return {name: pack(value) for name, value in given.items()}
