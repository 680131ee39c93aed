"""Claims about porting a net: limits of graph style, lists of Parameters, precision, inference.

Rows 39, 74, 76, 78, 88 and 92.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.claim import Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message
from explorer.numeric.differences import greatest_difference
from explorer.text.messages import first_clause
from explorer.topics import cells
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence, grouped, spaced
from explorer.topics.messages import Messages
from explorer.topics.networks.inputs import CODE, INDEXING, SAMPLES
from explorer.topics.networks.questions import (
    AMP_LEVEL,
    BATCHES,
    COMPILATIONS,
    LISTINGS,
    NOT_TRAINED,
    PARAMETERS,
    SLICES,
    TOPIC,
)
from explorer.topics.observations import (
    by_style,
    holds_or,
    observed,
    of_each,
    outcome,
    within,
)
from explorer.topics.question import MINDSPORE_STYLES

HEADING = "networks"

say = Messages("networks")

TOLERANCE = 1e-5
"""Up to this difference outputs are the same in float32: batch norm divides by a root."""

SLICING = tuple(function.__name__ for function in INDEXING)
"""The functions that read or write by variable indices."""

VARIABLES = {"as printed": "CUDA_VISIBLE_DEVICE", "as meant": "CUDA_VISIBLE_DEVICES"}
"""The environment variable of the guide's line, and the one that CUDA reads."""

GRAPH = "mindspore-graph"

UNRESTRICTED = (say("as_on_tape"), say("refused_everywhere"))
"""What becomes of constructs that graph style takes, or that no style takes."""


class Sliced(msgspec.Struct, frozen=True):
    """The value and the gradient of a construct, each of which may be what was raised."""

    value: Any
    gradient: Any


class Compilations(msgspec.Struct, frozen=True):
    """How many graphs vectors of several lengths take, as they are and with the length declared.

    The latter may be what was raised, also of ms.grad of the cell, and of a cell that calls ms.grad.
    """

    lengths: int
    fixed: int
    dynamic: Any
    gradient: Any
    gradient_in_a_cell: Any

    @property
    def is_restricted(self) -> bool:
        """Whether declared lengths are refused, or take more than one graph."""
        return raised(self.dynamic) or self.dynamic > 1

    @property
    def gradient_is_restricted(self) -> bool:
        """Whether ms.grad of a cell with a declared length takes more than one graph."""
        return raised(self.gradient) or self.gradient > 1

    @property
    def needs_a_cell(self) -> bool:
        """Whether a cell that calls ms.grad takes one graph, where ms.grad of a cell does not."""
        in_a_cell = self.gradient_in_a_cell
        return self.gradient_is_restricted and not raised(in_a_cell) and bool(in_a_cell == 1)


class Container(msgspec.Struct, frozen=True):
    """What a container of two Parameters registers, what the net gives, and its gradients."""

    registered: list[str]
    value: Any
    gradients: Any


class Untrained(msgspec.Struct, frozen=True):
    """What a net's output is by the kind of number that was changed, and which kinds are saved."""

    changed: float
    after: dict[str, float]
    saved: list[str]
    trained: list[str]

    def is_kept(self, kind: str) -> bool:
        """Whether a change of a kind is seen and saved, and it is not trained."""
        is_seen = self.after[kind] == self.changed
        return is_seen and kind in self.saved and kind not in self.trained


class Batches(msgspec.Struct, frozen=True, rename=spaced):
    """The outputs for all samples at inference, by the way to batch them."""

    one_by_one: list[Any]
    by_default: list[Any]
    keeping_the_rest: list[Any]
    dropping_the_rest: list[Any]
    again: list[Any]


@TOPIC.claim(
    39,
    "Slicing by variable indices and dynamic shapes are restricted in graph style.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would=(
        "Graph style refuses to read and write by indices that the tape takes, and vectors whose "
        "length is not declared before."
    ),
    asks=(SLICES, COMPILATIONS),
)
def graph_limits(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when graph style refuses all of it, with changes when a part; else it is outdated.

    Each way to read or write by an index is judged by itself, with its gradient. Loops up to a
    tensor's value are evidence alone: the statement is not about these.
    """
    slices = evidence.records(SLICES, dict[str, Sliced])["mindspore"]
    compiled = evidence.records(COMPILATIONS, Compilations)["mindspore"]
    outcomes = {}
    for name in slices:
        if name.endswith(".graph"):
            construct = name.removesuffix(".graph")
            outcomes[construct] = _in_graph_style(slices, construct)
    restricted = _restricted(outcomes)
    shapes_are_restricted = compiled.is_restricted
    seen = (
        *_outcomes_seen(outcomes),
        Observation(say("compilations", lengths=compiled.lengths), str(compiled.fixed), (GRAPH,)),
        Observation(
            say("compilations_declared"),
            outcome(compiled.dynamic),
            (GRAPH,),
            shapes_are_restricted,
        ),
        Observation(
            say("compilations_of_gradient"),
            outcome(compiled.gradient),
            (GRAPH,),
            compiled.gradient_is_restricted,
        ),
        Observation(say("compilations_in_a_cell"), outcome(compiled.gradient_in_a_cell), (GRAPH,)),
    )
    advice = cells.sentences(*_advice_on_graphs(outcomes, compiled))
    if not restricted and not shapes_are_restricted and not compiled.gradient_is_restricted:
        return Ruling("outdated", seen, advice)
    if shapes_are_restricted and len(restricted) == len(SLICING):
        return Ruling("holds", seen, advice)
    return Ruling("holds_with_changes", seen, advice)


def _outcomes_seen(outcomes: Mapping[str, Message]) -> Iterator[Observation]:
    """What becomes of the constructs in graph style; of loops the statement says nothing."""
    restricted = _restricted(outcomes)
    fates: dict[str, tuple[Message, bool | None]] = {}
    for name, fate in outcomes.items():
        fates[name] = (fate, name in restricted if name in SLICING else None)
    for names, (fate, as_stated) in grouped(fates):
        what = say("constructs", constructs=_code_of(names))
        yield Observation(what, fate, (GRAPH,), as_stated)


def _code_of(constructs: Iterable[str]) -> tuple[str, ...]:
    """The constructs as they are written."""
    return tuple(CODE[construct] for construct in constructs)


def _in_graph_style(slices: Mapping[str, Sliced], construct: str) -> Message:
    """What becomes of a construct in graph style: of its value, and of its gradient."""
    graph, tape = slices[f"{construct}.graph"], slices[f"{construct}.tape"]
    pairs = {"value": (graph.value, tape.value), "gradient": (graph.gradient, tape.gradient)}
    for what, (in_graph, on_tape) in pairs.items():
        if raised(in_graph) and raised(on_tape):
            return say("refused_everywhere")
        if raised(in_graph):
            return say(f"{what}_refused", error=said(in_graph))
        if not raised(on_tape) and greatest_difference(in_graph, on_tape) > TOLERANCE:
            return say(f"{what}_differs")
    return say("as_on_tape")


def _restricted(outcomes: Mapping[str, Message]) -> list[str]:
    """The ways to read or write that graph style alone does not take, or takes for another."""
    return [name for name in SLICING if outcomes[name] not in UNRESTRICTED]


def _advice_on_graphs(outcomes: Mapping[str, Message], compiled: Compilations) -> Iterator[Message]:
    """What to do in graph style, by what became of each construct there."""
    restricted = _restricted(outcomes)
    if not restricted:
        yield say("index_as_on_tape")
    elif len(restricted) < len(SLICING):
        yield say("run_on_tape", constructs=_code_of(restricted))
    else:
        yield say("index_by_constants")
    if compiled.is_restricted:
        yield say("pad")
    elif compiled.fixed > 1:
        yield say("declare_dimensions")
        if compiled.needs_a_cell:
            yield say("declare_to_a_cell")
    as_on_tape = say("as_on_tape")
    if outcomes["loop_to_tensor"] != as_on_tape:
        with_while = outcomes["while_below_tensor"] == as_on_tape
        yield say("write_while" if with_while else "loop_over_number")


@TOPIC.claim(
    74,
    "A list of Parameters registers none of them; a ParameterTuple registers all.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would="A net with a list of two Parameters has none to train, one with a ParameterTuple two.",
    asks=(PARAMETERS,),
    expects={"list": 0, "container": 2},
)
def lists_of_parameters(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's list registers nothing and its ParameterTuple both Parameters."""
    answers = evidence.records(PARAMETERS, dict[str, Container])
    mindspore, torch = answers["mindspore"], answers["torch"]
    seen = (
        *_registered("mindspore", mindspore, expects),
        *_registered("torch", torch, {}),
    )
    if len(mindspore["ParameterTuple"].registered) != expects["container"]:
        return Ruling("does_not_hold", seen)
    is_as_stated = len(mindspore["list"].registered) == expects["list"]
    return holds_or("outdated", seen, is_as_stated)


def _registered(
    framework: str, containers: Mapping[str, Container], expects: Mapping[str, int]
) -> Iterator[Observation]:
    """How many Parameters each container registers; what the statement says of them is expected."""
    said_of = {"list": "list", "ParameterTuple": "container"}
    for name, container in containers.items():
        count, expected = len(container.registered), expects.get(said_of.get(name, ""))
        value = say(
            "registered",
            count=count,
            gradients=len(container.gradients),
            output=container.value,
        )
        as_stated = None if expected is None else count == expected
        what = say("container_of_two", container=name)
        yield Observation(what, value, (framework,), as_stated)


@TOPIC.claim(
    76,
    "Mixed precision of one's own, by to_float, conflicts with amp_level of Model.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would="Layers compute in another precision than their own once Model is given a level.",
    asks=(AMP_LEVEL,),
)
def own_precision(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when a level changes the dtypes of the layers' outputs, or raises, in both styles."""
    answers = evidence[AMP_LEVEL]
    conflicts: dict[str, bool] = {}
    silent: dict[str, None] = {}  # an ordered set
    for style, levels in answers.items():
        own = levels["O0"]
        conflicts[style] = any(dtypes != own for dtypes in levels.values())
        for level, dtypes in levels.items():
            if dtypes != own and not raised(dtypes):
                silent[level] = None
    seen = tuple(_dtypes_seen(answers))
    verdict = by_style(conflicts)
    if verdict == "does_not_hold":
        return Ruling(verdict, seen)
    if not silent:
        return Ruling(verdict, seen, "refused")
    advice = say(
        "level_silent" if verdict == "holds" else "level_silent_in_one", levels=tuple(silent)
    )
    return Ruling(verdict, seen, advice)


def _dtypes_seen(answers: Mapping[str, Figures]) -> Iterator[Observation]:
    """The dtypes by level; a conflict is one that O0, which leaves the layers alone, has not."""
    for level in answers[MINDSPORE_STYLES[0]]:
        dtypes = of_each(answers, level)
        as_stated: dict[str, bool] = {}
        if level != "O0":
            as_stated = {style: dtypes[style] != answers[style]["O0"] for style in answers}
        yield from observed(say("dtypes", level=level), dtypes, _dtypes, as_stated)


def _dtypes(figure: Any) -> str:
    if raised(figure):
        return f"{figure['raised']}: {first_clause(figure['message'])}"
    return ", ".join(figure)


@TOPIC.claim(
    78,
    "Check inference before training: with the same weights the outputs are the same; take batches"
    " of one, or drop_remainder=False.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "Principles of Network Inference; Constructing Network"},
    would=(
        "Inference gives both frameworks' outputs for every sample, whatever the batch size, unless"
        " the rest is dropped."
    ),
    asks=(BATCHES,),
)
def inference_first(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when MindSpore's outputs are PyTorch's for all samples, one by one and in batches.

    It is judged by style. It holds with changes where dropping the rest loses nothing.
    """
    answers = evidence.records(BATCHES, Batches)
    reference = answers["torch"].one_by_one
    right: dict[str, bool] = {}
    loses: dict[str, bool] = {}
    for style in MINDSPORE_STYLES:
        batches = answers[style]
        same = [
            _same(batches.one_by_one, reference),
            _same(batches.keeping_the_rest, reference),
            batches.again == batches.by_default,
        ]
        right[style] = all(same)
        loses[style] = len(batches.dropping_the_rest) < len(SAMPLES)
    seen = tuple(_batches_seen(answers, reference))

    verdict = by_style(right)
    if verdict != "holds":
        return Ruling(verdict, seen)
    if not all(loses.values()):
        return Ruling("holds_with_changes", seen)
    keeps = all(len(answers[style].by_default) == len(SAMPLES) for style in MINDSPORE_STYLES)
    return Ruling("holds", seen, "" if keeps else "default drops")


def _same(outputs: Any, reference: Any) -> bool:
    return greatest_difference(outputs, reference) <= TOLERANCE


def _batches_seen(answers: Mapping[str, Batches], reference: Any) -> Iterator[Observation]:
    """How far outputs are from PyTorch's, and how many samples each way to batch leaves."""
    differences: dict[str, float] = {}
    for style in MINDSPORE_STYLES:
        differences[style] = greatest_difference(answers[style].one_by_one, reference)
    near = within(differences, TOLERANCE)
    yield from observed(say("output_difference"), differences, "{:.2g}".format, near)
    for way, is_whole in (
        ("by_default", None),
        ("keeping_the_rest", True),
        ("dropping_the_rest", False),
    ):
        counts = {party: len(getattr(batches, way)) for party, batches in answers.items()}
        as_stated: dict[str, bool] = {}
        if is_whole is not None:
            as_stated = {
                party: (count == len(SAMPLES)) == is_whole for party, count in counts.items()
            }
        what = say(f"outputs {spaced(way)}", samples=len(SAMPLES))
        yield from observed(what, counts, str, as_stated)


@TOPIC.claim(
    88,
    "What is not trained in PyTorch can be a Tensor in MindSpore.",
    heading=HEADING,
    guides=("000", "001"),
    sections={"000": "Data Size", "001": "Tensor/Parameter"},
    would="A Tensor that is changed once the net was called is used, and saved with the net.",
    asks=(NOT_TRAINED,),
)
def tensors_are_not_trained(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both styles use a changed Tensor and save it.

    It depends on the style when one of them uses the change; what is saved is evidence.
    """
    styles = evidence.records(NOT_TRAINED, Untrained)
    is_seen = {style: net.after["tensor"] == net.changed for style, net in styles.items()}
    seen: list[Observation] = []
    for kind in ("tensor", "buffer", "parameter"):
        outputs = {style: net.after[kind] for style, net in styles.items()}
        as_stated = is_seen if kind == "tensor" else None
        what = say("after_change", kind=say(f"untrained {kind}"))
        seen.extend(observed(what, outputs, "{:g}".format, as_stated))
    for style, net in styles.items():
        saved = tuple(say(f"untrained {kind}") for kind in net.saved)
        seen.append(Observation(say("saved"), say("names", names=saved), (style,)))
    keeps = all(net.is_kept("parameter") for net in styles.values())
    is_saved = all("tensor" in net.saved for net in styles.values())
    verdict = by_style(is_seen)
    if verdict == "holds" and not is_saved:
        verdict = "holds_with_changes"
    return Ruling(verdict, tuple(seen), "a Parameter" if keeps and not is_saved else "")


@TOPIC.claim(
    92,
    "The guides' lines about layers, a training step and visible GPUs run as they are printed.",
    heading=HEADING,
    guides=("000", "001", "003"),
    sections={
        "000": "torch.device",
        "001": "Considerations for MindSpore Network Authoring",
    },
    would=(
        "nn.Conv2d(1, 3) and nn.BatchNorm(3) make layers, forward_fn is defined, and"
        " CUDA_VISIBLE_DEVICE chooses a GPU."
    ),
    asks=(LISTINGS,),
)
def printed_lines(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when no line raises as it is printed, and the variable changes the GPUs that count."""
    answers = evidence[LISTINGS]
    lines, chooses = answers["mindspore"], answers["torch"]
    seen: list[Observation] = []
    for line, made in lines["as printed"].items():
        what = say("line_as_printed", line=line)
        seen.append(Observation(what, outcome(made), ("mindspore",), not raised(made)))
    for line, made in lines["as meant"].items():
        seen.append(Observation(say("line_as_meant", line=line), outcome(made), ("mindspore",)))
    is_chosen = chooses["as printed"]
    for which, name in VARIABLES.items():
        expected = is_chosen if which == "as printed" else None
        what = say("variable_chooses", variable=name)
        seen.append(Observation(what, cells.yes_or_no(chooses[which]), ("torch",), expected))
    is_right = is_chosen and not any(map(raised, lines["as printed"].values()))
    return holds_or("does_not_hold", tuple(seen), is_right)
