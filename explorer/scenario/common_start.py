"""Settles one start for both nets of a scenario: a first look at each, checks, starting values."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
import numpy as np

from explorer.environments.known import is_found
from explorer.model.arrays import AnyArray, Array, pack, unpack
from explorer.model.engines import (
    FRAMEWORK_LABELS,
    FRAMEWORKS,
    GIVEN,
    LEADERS,
    NEEDED,
    Engine,
    Framework,
    Style,
    engine_named,
    environment_of,
    placed,
    plain,
)
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.failures import Failure
from explorer.model.findings import Omitted, ReportFinding
from explorer.model.requests import (
    Description,
    NetRequest,
    ParameterSpec,
    Repacked,
    Responses,
    ResponsesRequest,
)
from explorer.model.results import Result
from explorer.scenario.correspondence import (
    all_specs,
    common,
    is_left_out,
    is_weight,
    keep_their_own,
    lone,
    with_statistics_named,
)
from explorer.scenario.counterparts import Counterparts, counterparts
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import remedy_for_import
from explorer.scenario.matrix import are_losses, has_auxiliary
from explorer.scenario.mismatches import (
    check_left_out,
    check_parameter_names,
    check_parameters,
    findings,
)
from explorer.scenario.packing import Pack
from explorer.scenario.value_matching import Ask, Starts, Who, pack_start
from explorer.text.choices import refusal
from explorer.text.failures import message, typed
from explorer.text.language import _
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers

FIRST_STYLE: Style = "tape"
"""The style of the engine that looks first: a tape says most directly where a forward fails."""


OF_THE_SCENARIO = (UsageError.__name__, "ImportError", "ModuleNotFoundError")
"""Errors that say how the scenario or its environment is to be mended, and nothing of the net."""


class Nets(msgspec.Struct, frozen=True):
    """The nets that the engines are to build, all with the same start.

    ``requests`` has one net an engine; ``parameters`` the starting values by PyTorch's names.
    ``trainable`` names the weights in the order in which they are asked for; ``outputs`` counts
    what the forward returns, and ``has_auxiliary`` says whether has_aux can set some of it aside;
    ``lost`` are the frameworks whose worker was lost at the first look, and ``raised`` those whose
    net raised while the other's ran; ``are_losses`` says whether each output is a loss.
    ``findings`` are what one net does with a parameter and the other does not; ``pieces`` the
    parameters that the nets hold in other pieces.
    """

    requests: dict[str, NetRequest]
    parameters: dict[str, Array]
    trainable: tuple[str, ...]
    outputs: int
    has_auxiliary: bool
    lost: dict[Framework, Lost]
    findings: tuple[ReportFinding, ...] = ()
    raised: dict[Framework, Failure] = {}
    are_losses: bool = False
    pieces: tuple[Repacked, ...] = ()

    @property
    def homes(self) -> dict[Framework, str]:
        """The environment in which each framework is looked at: that of its first engine."""
        return homes(self.requests)

    @property
    def has_one_loss(self) -> bool:
        """Whether the first output alone is what a training step differentiates."""
        return self.has_auxiliary and not self.are_losses

    def without_answer(self, framework: Framework) -> Result | None:
        """The result of each case on a framework whose net could not be run; None if it ran."""
        if framework in self.lost:
            loss = self.lost[framework]
            return Result(outcome=loss.outcome, error=loss.failure)
        if framework in self.raised:
            return Result(outcome="raised", error=self.raised[framework])
        return None


def settle(
    scenario: Declaration, workers: Workers, engines: tuple[str, ...], devices: Mapping[str, str]
) -> Nets:
    """Look at the net of each framework once, and give all engines the same start.

    ``engines`` are those whose net the scenario defines; ``devices`` says where each runs. Raises
    ScenarioError when no forward runs, or when the nets' parameters or outputs do not correspond.
    """
    looks = _first_looks(scenario, workers, engines, devices)
    descriptions, failed, lost = looks

    found = Counterparts(descriptions.get("mindspore", Description()))
    if "mindspore" in descriptions:
        check_parameter_names(scenario, descriptions["mindspore"])
    if _are_both(descriptions):
        both: Both = {"own": "mindspore", "leading": "torch"}
        ask = _asking(scenario, workers, engines, devices, both)
        found = _found_counterparts(scenario, descriptions, ask)
        descriptions = {"mindspore": found.mindspore, "torch": descriptions["torch"]}
    start = _start(scenario, descriptions, are_all=not (lost or failed))
    for pack_ in found.packs:
        start.update(_packed_start(scenario, pack_, start))
    held = _with_all_held(start, descriptions)
    given = _look_at_given(scenario, workers, engines, devices, held, looks)
    raised = _raised(scenario, failed, others_run=bool(descriptions))
    outputs = _outputs(scenario, descriptions)
    pieces = tuple(pack_.pieces for pack_ in found.packs if pack_.is_trained)
    alike = _trainable(descriptions)
    trainable, own_trainable = alike, alike
    # The first of them is asked for alone too, which only works where both nets have one of it.
    if alike:
        trainable += tuple(name for piece in pieces for name in piece.torch)
        own_trainable += tuple(name for piece in pieces for name in piece.own)
    names = {framework: paired.names for framework, paired in given.items()}
    if "mindspore" in descriptions:
        names["mindspore"] = {spec.path: spec.name for spec in _specs(descriptions["mindspore"])}

    has_own_draws = scenario.same_dropout is None and _is_one_masked(descriptions)
    requests: dict[str, NetRequest] = {}
    for name in engines:
        description = descriptions.get(engine_named(name).framework, Description())
        requests[name] = NetRequest(
            scenario=str(scenario.path),
            engine=plain(name),
            device=devices[name],
            parameters=held if engine_named(name).framework in GIVEN else start,
            trainable=own_trainable if engine_named(name).framework == "mindspore" else trainable,
            names=names.get(engine_named(name).framework, {}),
            shapes=found.shapes,
            pieces=pieces if alike else (),
            returned=description.returned,
            has_masks=len(description.masked) > 0 and not has_own_draws,
            has_own_draws=has_own_draws,
        )
    auxiliary = all(has_auxiliary(description.returned) for description in descriptions.values())
    remarks = found.findings
    for paired in given.values():
        remarks += paired.findings
    if _are_both(descriptions):
        mindspore, torch = unpacked(descriptions, found.packs)
        remarks = (*remarks, *findings(scenario, mindspore, torch))
    remarks = (*remarks, *_omitted(descriptions))
    losses = all(are_losses(scenario, it.outputs) for it in descriptions.values())
    return Nets(
        requests,
        start,
        trainable,
        outputs,
        auxiliary,
        lost,
        remarks,
        raised,
        losses,
        pieces=tuple(pack_.pieces for pack_ in found.packs),
    )


NOTHING_HELD: Mapping[str, Array] = MappingProxyType({})

Both = Mapping[Who, Framework]
"""The framework of the net that is paired, and that of the one whose names count."""

NO_NAMES: Mapping[str, str] = MappingProxyType({})

Looks = tuple[dict[Framework, Description], dict[Framework, Description], dict[Framework, Lost]]
"""The nets that run, those that raise, and how workers were lost."""


def _first_looks(
    scenario: Declaration, workers: Workers, engines: tuple[str, ...], devices: Mapping[str, str]
) -> Looks:
    """A first look at the net of each framework that takes part, and whose net holds its parameters."""
    descriptions: dict[Framework, Description] = {}
    failed: dict[Framework, Description] = {}
    lost: dict[Framework, Lost] = {}
    looks = descriptions, failed, lost
    for framework in _looked_at(scenario, engines):
        if framework not in GIVEN:
            _note(looks, framework, _first_look(scenario, workers, framework, engines, devices))
    return looks


def _look_at_given(
    scenario: Declaration,
    workers: Workers,
    engines: tuple[str, ...],
    devices: Mapping[str, str],
    held: Mapping[str, Array],
    looks: Looks,
) -> dict[Framework, Counterparts]:
    """A first look at the nets that take parameters, with those that are ``held``; adds to ``looks``.

    Returns how those that call them otherwise are paired with what the leading net holds.
    """
    leading = _leading(looks[0])
    found: dict[Framework, Counterparts] = {}
    for framework in _looked_at(scenario, engines):
        if framework not in GIVEN:
            continue
        names: dict[str, str] = {}
        reply = _first_look(scenario, workers, framework, engines, devices, held)
        if isinstance(reply, Description) and reply.own and looks[0]:
            leader = next(name for name in LEADERS if name in looks[0])
            both: Both = {"own": framework, "leading": leader}
            ask = _asking(scenario, workers, engines, devices, both, held)
            own = Description(reply.own)
            found[framework] = counterparts(own, leading, scenario.renames, ask)
            names = found[framework].names
            reply = _first_look(scenario, workers, framework, engines, devices, held, names)
        if isinstance(reply, Description) and leading.parameters:
            # A function does not say what is trained: that is as in the net that holds it.
            reply = msgspec.structs.replace(
                reply, parameters=leading.parameters, constants=leading.constants
            )
        _note(looks, framework, reply)
    return found


def _note(looks: Looks, framework: Framework, reply: Description | Lost) -> None:
    descriptions, failed, lost = looks
    if isinstance(reply, Lost):
        lost[framework] = reply
    elif reply.error:
        failed[framework] = reply
    else:
        descriptions[framework] = reply


def _with_all_held(
    start: Mapping[str, Array], descriptions: Mapping[Framework, Description]
) -> dict[str, Array]:
    """The starting values, and those of what the leading net holds beside them."""
    held = {spec.name: spec.value for spec in _specs(_leading(descriptions))}
    return {**held, **start}


def _are_both(descriptions: Mapping[Framework, Description]) -> bool:
    """Whether the nets of both frameworks run whose parameters are to correspond."""
    return all(framework in descriptions for framework in NEEDED)


def _is_one_masked(descriptions: Mapping[Framework, Description]) -> bool:
    """Whether one net has dropout layers, and the other has none that could get the same masks.

    It may draw by an operator: then a mask given to one of them makes two right nets differ.
    """
    holding = [it for framework, it in descriptions.items() if framework not in GIVEN]
    masked = [len(description.masked) > 0 for description in holding]
    return any(masked) and not all(masked)


def _omitted(descriptions: Mapping[Framework, Description]) -> Iterator[ReportFinding]:
    """What each net returns beside its tensors."""
    for framework, description in descriptions.items():
        if description.omitted:
            fact = Omitted(framework, description.omitted)
            yield ReportFinding(fact=fact, names=tuple(description.omitted))


def _looked_at(scenario: Declaration, engines: tuple[str, ...]) -> list[Framework]:
    """PyTorch first; it is looked at whenever its net gives the other its starting values."""
    # Also where none of its engines is asked: all engines must start alike whoever takes part.
    frameworks = {engine_named(name).framework for name in engines}
    # It says of those that are given their parameters which of these are trained.
    is_asked = not frameworks.isdisjoint(GIVEN) and is_found(scenario.leader)
    if scenario.defines(scenario.leader) and (is_asked or scenario.parameters() is None):
        frameworks.add(scenario.leader)
    return sorted(frameworks, key=FRAMEWORKS.index, reverse=True)


def _first_look(
    scenario: Declaration,
    workers: Workers,
    framework: Framework,
    engines: tuple[str, ...],
    devices: Mapping[str, str],
    held: Mapping[str, Array] = NOTHING_HELD,
    names: Mapping[str, str] = NO_NAMES,
) -> Description | Lost:
    """A first look at a framework's net, which is given what is ``held`` where it takes parameters."""
    engine = looking(framework, engines)
    target, request = first_look(scenario.path, engine, devices.get(engine.name, "cpu"))
    request = msgspec.structs.replace(request, parameters=dict(held), names=dict(names))
    return workers.call(engine.answers_in[0], target, request, Description)


def homes(engines: Iterable[str]) -> dict[Framework, str]:
    """The environment of each framework's first engine."""
    found: dict[Framework, str] = {}
    for name in engines:
        found.setdefault(engine_named(name).framework, environment_of(name))
    return found


def looking(framework: Framework, engines: Iterable[str] = ()) -> Engine:
    """The engine that looks at a framework's net first, where the first of some ``engines`` runs."""
    environment = homes(engines).get(framework, "")
    return engine_named(placed(f"{framework}-{FIRST_STYLE}", environment))


def _raised(
    scenario: Declaration, failed: Mapping[Framework, Description], *, others_run: bool
) -> dict[Framework, Failure]:
    """The errors of nets that raise where another framework's runs, which is then shown alone.

    Raises ScenarioError where none runs, and for a mistake in the scenario itself.
    """
    errors: dict[Framework, Failure] = {}
    for framework, description in failed.items():
        error = description.error
        if error is None:
            continue
        if not others_run or error.type in OF_THE_SCENARIO:
            refuse_raised(scenario, framework, description)
        errors[framework] = error
    return errors


def first_look(path: Path, engine: Engine, device: str) -> tuple[str, NetRequest]:
    """The function that looks at a net for the first time, and its argument; it gives a Description."""
    request = NetRequest(scenario=str(path), engine=plain(engine.name), device=device)
    return f"{engine.module}:describe", request


def refuse_raised(scenario: Declaration, framework: Framework, description: Description) -> None:
    """Raise ScenarioError if the first look at a net raised."""
    error = description.error
    if error is None:
        return
    factory = scenario.nets[framework]
    # Of one's own nets there is no file to look into but the package's.
    place = error.source or (str(factory) if factory.folder else scenario.file)
    if error.type == UsageError.__name__:
        raise ScenarioError(f"{place}: {message(error)}")
    text = _(
        "{place}: the {framework} net raises when it is created or run forward: {error}{remedy}"
    )
    label, remedy = FRAMEWORK_LABELS[framework], remedy_for_import(scenario.path, error.message)
    raise ScenarioError(text, place=place, framework=label, error=typed(error), remedy=remedy)


def _leading(descriptions: Mapping[Framework, Description]) -> Description:
    """The description whose names and order of parameters count: PyTorch's where there is one."""
    # Everything that leaves a worker is keyed by PyTorch's names.
    for framework in LEADERS:
        if framework in descriptions:
            return descriptions[framework]
    return Description()


def _specs(description: Description) -> tuple[ParameterSpec, ...]:
    return (*description.constants, *description.parameters)


def _asking(
    scenario: Declaration,
    workers: Workers,
    engines: tuple[str, ...],
    devices: Mapping[str, str],
    both: Both,
    held: Mapping[str, Array] = NOTHING_HELD,
) -> Ask:
    """What runs two nets from some starts: one that is paired, and given what is ``held``, and the leader."""

    def ask(who: Who, names: Mapping[str, str], starts: Starts) -> Responses | None:
        framework = both[who]
        engine = looking(framework, engines)
        _, request = first_look(scenario.path, engine, devices.get(engine.name, "cpu"))
        given = held if framework in GIVEN else {}
        net = msgspec.structs.replace(request, names=dict(names), parameters=dict(given))
        target = f"explorer.engines.{framework}.responses:responses"
        asked = ResponsesRequest(net, starts)
        reply = workers.call(engine.answers_in[0], target, asked, Responses)
        return reply if isinstance(reply, Responses) else None

    return ask


def _found_counterparts(
    scenario: Declaration, descriptions: Mapping[Framework, Description], ask: Ask
) -> Counterparts:
    """The counterparts of MindSpore's parameters; raises ScenarioError where there are none."""
    torch = descriptions["torch"]
    found = counterparts(descriptions["mindspore"], torch, scenario.renames, ask)
    mindspore = with_statistics_named(found.mindspore, torch)
    found = msgspec.structs.replace(found, mindspore=mindspore)
    check_parameters(scenario, *unpacked({"mindspore": mindspore, "torch": torch}, found.packs))
    check_left_out(scenario, mindspore, torch)
    return found


def unpacked(
    descriptions: Mapping[Framework, Description], packs: Iterable[Pack]
) -> tuple[Description, Description]:
    """MindSpore's net and PyTorch's without what one of them packs."""
    paths: set[str] = set()
    for pack_ in packs:
        paths |= {spec.path for spec in (pack_.whole, *pack_.parts)}
    left = []
    for framework in NEEDED:
        description = descriptions[framework]
        specs = tuple(spec for spec in description.parameters if spec.path not in paths)
        left.append(msgspec.structs.replace(description, parameters=specs))
    mindspore, torch = left
    return mindspore, torch


def _trainable(descriptions: Mapping[Framework, Description]) -> tuple[str, ...]:
    """What every net trains, in the order of the leading one."""
    names = [spec.name for spec in _leading(descriptions).parameters if spec.trainable]
    for description in descriptions.values():
        trained = {spec.name for spec in description.parameters if spec.trainable}
        names = [name for name in names if name in trained]
    return tuple(names)


def _outputs(scenario: Declaration, descriptions: Mapping[Framework, Description]) -> int:
    counts = {name: len(description.outputs) for name, description in descriptions.items()}
    if len(set(counts.values())) > 1:
        clauses = []
        for name, count in counts.items():
            clause = _("{n} from {framework}")
            clauses.append(clause.format(n=count, framework=FRAMEWORK_LABELS[name]))
        text = _(
            "{file}: the nets return different numbers of outputs ({counts}); return the same"
            " number from all"
        )
        raise ScenarioError(text, file=scenario.place, counts=_(" and ").join(clauses))
    return max(counts.values(), default=0)


def _start(
    scenario: Declaration, descriptions: Mapping[Framework, Description], *, are_all: bool
) -> dict[str, Array]:
    """The scenario's own starting values; what it does not give starts as in the leading net.

    ``are_all`` says whether every net could be looked at: a name may be that of another one.
    """
    values = scenario.parameters()
    if values is None:
        return _declared(scenario, descriptions)
    if not descriptions and are_all:
        return {name: pack(value) for name, value in values.items()}  # for nets that take them

    specs: dict[str, ParameterSpec] = {}
    for framework in NEEDED:
        if framework in descriptions:
            specs.update(all_specs(descriptions[framework]))
    _check_values(scenario, values, specs, are_all=are_all)
    start = {name: pack(value) for name, value in values.items()}
    for name, spec in specs.items():
        if is_weight(spec):
            start.setdefault(name, spec.value)
    return start


def _declared(
    scenario: Declaration, descriptions: Mapping[Framework, Description]
) -> dict[str, Array]:
    """The values with which one net begins, as far as the other is to begin with them."""
    start = {spec.name: spec.value for spec in _leading(descriptions).parameters}
    if not _are_both(descriptions):
        return start
    for held in common(descriptions["mindspore"], descriptions["torch"]):
        of_leader = held.torch if scenario.leader == "torch" else held.mindspore
        if held.mindspore.trainable:
            start[held.name] = of_leader.value
        elif keep_their_own(held) or is_left_out(scenario, held):
            start.pop(held.name, None)
        elif held.name in start:
            start[held.name] = of_leader.value
    for spec in filter(is_weight, lone(descriptions["mindspore"], descriptions["torch"])):
        start[spec.name] = spec.value
    return start


def _packed_start(
    scenario: Declaration, packed: Pack, start: Mapping[str, Array]
) -> dict[str, Array]:
    """The starting values of a packed parameter and its parts: the scenario's, or the leader's."""
    in_torch = [packed.whole] if packed.holder == "torch" else list(packed.parts)
    is_given = scenario.parameters() is not None and in_torch[0].name in start
    if is_given or scenario.leader == "torch":
        values = [unpack(start.get(spec.name, spec.value)) for spec in in_torch]
    elif packed.holder == "mindspore":
        values = [unpack(packed.whole.value)]
    else:
        values = [unpack(part.value) for part in packed.parts]
    rows = [value.reshape(-1, *packed.whole.value.shape[1:]) for value in values]
    return pack_start(packed, np.concatenate(rows))


def _check_values(
    scenario: Declaration,
    values: Mapping[str, AnyArray],
    specs: Mapping[str, ParameterSpec],
    *,
    are_all: bool,
) -> None:
    """The scenario's own starting values must be those of tensors that a net holds."""
    source = "parameters" if scenario.is_of_api else "parameters()"
    for name, value in values.items():
        if name not in specs and not are_all:
            continue
        if name not in specs:
            fact = _("{file}: {source} gives {name!r}, which neither net has")
            said = fact.format(file=scenario.place, source=source, name=name)
            raise ScenarioError(refusal(said, name, list(specs)))
        shape = specs[name].value.shape
        if value.shape != shape:
            raise ScenarioError(
                _("{file}: {source}[{name!r}] has shape {given}; the nets need {needed}"),
                file=scenario.place,
                source=source,
                name=name,
                given=value.shape,
                needed=shape,
            )
