"""Settles one start for both nets of a scenario: a first look at each, checks, starting values."""

from collections.abc import Mapping

import msgspec

from explorer.model.arrays import AnyArray, Array, pack
from explorer.model.engines import ENGINES, FRAMEWORKS, Framework, Style
from explorer.model.errors import ScenarioError
from explorer.model.requests import Description, NetRequest
from explorer.scenario.contract import Scenario
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

FIRST_STYLE: Style = "tape"
"""The style of the engine that looks first: a tape says most directly where a forward fails."""


class Nets(msgspec.Struct, frozen=True):
    """The nets that the engines are to build, all with the same start.

    ``requests`` has one net an engine; ``parameters`` the starting values by PyTorch's names.
    ``trainable`` names the weights in the order in which they are asked for; ``outputs`` counts
    what the forward returns; ``lost`` are the frameworks whose worker was lost at the first look.
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
    descriptions: dict[Framework, Description] = {}
    lost: dict[Framework, Lost] = {}
    for framework in _looked_at(scenario, engines):
        reply = _first_look(scenario, workers, framework, devices)
        if isinstance(reply, Lost):
            lost[framework] = reply
        else:
            descriptions[framework] = reply

    _check_that_parameters_correspond(scenario, descriptions)
    outputs = _outputs(scenario, descriptions)
    start = _start(scenario, descriptions)
    specs = _leading(descriptions).parameters
    trainable = tuple(spec.name for spec in specs if spec.trainable)

    requests: dict[str, NetRequest] = {}
    for name in engines:
        requests[name] = NetRequest(
            scenario=str(scenario.path),
            engine=name,
            device=devices[name],
            parameters=start,
            trainable=trainable,
        )
    return Nets(requests, start, trainable, outputs, lost)


def _looked_at(scenario: Scenario, engines: tuple[str, ...]) -> list[Framework]:
    """PyTorch first; it is looked at whenever its net gives the other its starting values."""
    # Also where none of its engines is asked: all engines must start alike whoever takes part.
    frameworks = {ENGINES[name].framework for name in engines}
    if scenario.defines("torch") and scenario.parameters() is None:
        frameworks.add("torch")
    return [framework for framework in reversed(FRAMEWORKS) if framework in frameworks]


def _first_look(
    scenario: Scenario, workers: Workers, framework: Framework, devices: Mapping[str, str]
) -> Description | Lost:
    engine = ENGINES[f"{framework}-{FIRST_STYLE}"]
    request = NetRequest(
        scenario=str(scenario.path),
        engine=engine.name,
        device=devices.get(engine.name, "cpu"),
    )
    reply = workers.call(framework, f"{engine.module}:describe", request, Description)
    if isinstance(reply, Description) and reply.error:
        place = reply.error.source or str(scenario.path)
        raise ScenarioError(
            f"{place}: the {framework} net raises in forward: "
            f"{reply.error.type}: {reply.error.message}"
        )
    return reply


def _leading(descriptions: Mapping[Framework, Description]) -> Description:
    """The description whose names and order of parameters count: PyTorch's where there is one."""
    # Everything that leaves a worker is keyed by PyTorch's names.
    for framework in reversed(FRAMEWORKS):
        if framework in descriptions:
            return descriptions[framework]
    return Description()


def _check_that_parameters_correspond(
    scenario: Scenario, descriptions: Mapping[Framework, Description]
) -> None:
    if len(descriptions) < len(FRAMEWORKS):
        return  # nothing to correspond with
    # Buffers are left out: the frameworks do not have the same ones.
    shapes: dict[Framework, dict[str, tuple[int, ...]]] = {}
    for framework, description in descriptions.items():
        weights = [spec for spec in description.parameters if spec.trainable]
        shapes[framework] = {spec.name: spec.value.shape for spec in weights}
    if shapes["mindspore"] == shapes["torch"]:
        return

    specs = descriptions["mindspore"].parameters
    own_names = {spec.name: spec.own_name for spec in specs}
    raise ScenarioError(
        f"{scenario.path}: the parameters of the two nets do not correspond. "
        f"MindSpore has: {_listed(shapes['mindspore'], own_names)}. "
        f"PyTorch has: {_listed(shapes['torch'], own_names)}. "
        "Give both the same shapes, and name pairs in "
        'PARAMETER_NAMES = {"mindspore name": "torch name"}'
    )


def _listed(shapes: Mapping[str, tuple[int, ...]], own_names: Mapping[str, str]) -> str:
    """Parameters with their shapes, each also by MindSpore's own name where that is another."""
    parameters = []
    for name, shape in shapes.items():
        own_name = own_names.get(name, name)
        there = f" (there {own_name})" if own_name != name else ""
        parameters.append(f"{name} {shape}{there}")
    return ", ".join(parameters) or "none"


def _outputs(scenario: Scenario, descriptions: Mapping[Framework, Description]) -> int:
    counts = {name: len(description.outputs) for name, description in descriptions.items()}
    if len(set(counts.values())) > 1:
        clauses = [f"the {framework} net returns {count}" for framework, count in counts.items()]
        raise ScenarioError(
            f"{scenario.path}: {' and '.join(clauses)} outputs; return the same number from both"
        )
    return max(counts.values(), default=0)


def _start(scenario: Scenario, descriptions: Mapping[Framework, Description]) -> dict[str, Array]:
    """The scenario's own starting values, else those that the leading net began with."""
    specs = _leading(descriptions).parameters
    values = scenario.parameters()
    if values is None:
        return {spec.name: spec.value for spec in specs}

    shapes = {spec.name: spec.value.shape for spec in specs}
    if shapes:  # without any, the first look was lost, and there is nothing to check against
        _check_values(scenario, values, shapes)
    return {name: pack(value) for name, value in values.items()}


def _check_values(
    scenario: Scenario, values: Mapping[str, AnyArray], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """The scenario's own starting values must be those of parameters that there are."""
    for name, value in values.items():
        if name not in shapes:
            raise ScenarioError(
                f"{scenario.path}: parameters() gives {name!r}, which no net has; "
                f"the nets have {', '.join(shapes)}"
            )
        if value.shape != shapes[name]:
            raise ScenarioError(
                f"{scenario.path}: parameters()[{name!r}] has shape {value.shape}; "
                f"the nets have {shapes[name]}"
            )
