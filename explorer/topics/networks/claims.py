"""Claims about networks: modes, parameters, parts, kinds of data (rows 32 to 36)."""

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from explorer.model.claim import ClaimVerdict, Observation, Ruling
from explorer.model.measurement import Figures
from explorer.model.message import Message, Text
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.cells import sentences, yes_or_no
from explorer.topics.evidence import Evidence
from explorer.topics.messages import Messages
from explorer.topics.networks.questions import (
    CONTAINERS,
    KINDS_OF_DATA,
    MODES,
    PARTS,
    STARTING_MODE,
    TOPIC,
)
from explorer.topics.observations import for_each, holds_or, observed
from explorer.topics.question import FRAMEWORKS, Question

HEADING = "networks"

say = Messages("networks")

TOLERANCE = 1e-5
"""Up to this difference two layers give the same: batch norm divides by a root in float32."""


def cells_and_modules(evidence: Evidence, question: Question) -> tuple[Figures, Figures]:
    """The figures of MindSpore's cells and of PyTorch's modules for one question."""
    answers = evidence[question]
    return answers["mindspore"], answers["torch"]


class Mode(msgspec.Struct, frozen=True):
    """What batch norm gives in one mode, its running mean, and how many zeros dropout makes."""

    norm: Any
    running_mean: Any
    dropout_zeros: int


class CellParts(msgspec.Struct, frozen=True):
    """The names of a cell's parts by each call, and of those after a cell was inserted."""

    cells_and_names: list[str]
    name_cells: list[str]
    after_insert_child_to_cell: list[str]
    get_parameters: list[str]


class ModuleParts(msgspec.Struct, frozen=True):
    """The names of a module's parts by each call, and of those after a module was added."""

    named_children: list[str]
    named_modules: list[str]
    after_add_module: list[str]
    parameters: list[str]


class KindsInMindSpore(
    msgspec.Struct,
    frozen=True,
    rename={"trainable": "trainable_after_requires_grad_False"},
):
    """The kinds of data object that MindSpore has.

    The names of registered buffers, or what was raised; what a Tensor has of gradients; the weights
    that are trained once requires_grad of one is False.
    """

    kinds: list[str]
    registered: Any
    tensor_has: list[str]
    trainable: list[str]


class KindsInTorch(msgspec.Struct, frozen=True, rename={"variable_is": "Variable_is"}):
    """The kinds of data object that PyTorch has, what a Variable is, and who has a gradient."""

    kinds: list[str]
    variable_is: str
    has_gradient: dict[str, bool]


@TOPIC.claim(
    32,
    "A Cell starts in inference mode, a Module in training mode.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "nn.Module/nn.Cell"},
    would="`training` is False on every new Cell and True on every new Module.",
    asks=(STARTING_MODE,),
    expects={"cell": False, "module": True},
)
def starting_mode(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when every cell starts in inference mode and every module in training mode."""
    cells, modules = cells_and_modules(evidence, STARTING_MODE)
    cell_modes, module_modes = set(cells.values()), set(modules.values())
    cells_as_stated = cell_modes == {expects["cell"]}
    modules_as_stated = module_modes == {expects["module"]}
    seen = (
        Observation(say("new_cell"), _values(cells), ("mindspore",), cells_as_stated),
        Observation(say("new_module"), _values(modules), ("torch",), modules_as_stated),
    )
    if cells_as_stated and modules_as_stated:
        return Ruling("holds", seen)
    if len(cell_modes | module_modes) == 1:
        return Ruling("outdated", seen)
    return Ruling("does_not_hold", seen)


def _values(figures: Mapping[str, bool]) -> str:
    return "/".join(sorted({str(value) for value in figures.values()}))


@TOPIC.claim(
    33,
    "set_train(True) and set_train(False) do what train() and eval() do.",
    heading=HEADING,
    guides=("001",),
    sections={"001": "Principles of Network Inference"},
    would="Batch norm and dropout behave alike in both modes on both frameworks.",
    asks=(MODES,),
)
def modes(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when batch norm gives the same on both frameworks in both modes.

    Dropout must drop in training mode only.
    """
    answers = evidence.records(MODES, dict[str, Mode])
    greatest = 0.0
    for mode, cell in answers["mindspore"].items():
        module = answers["torch"][mode]
        greatest = max(
            greatest,
            greatest_difference(cell.norm, module.norm),
            greatest_difference(cell.running_mean, module.running_mean),
        )
    in_training: dict[str, int] = {}
    in_inference: dict[str, int] = {}
    for framework, by_mode in answers.items():
        in_training[framework] = by_mode["training"].dropout_zeros
        in_inference[framework] = by_mode["inference"].dropout_zeros

    drops = for_each(bool, in_training)
    keeps = for_each(operator.not_, in_inference)
    is_same_norm = greatest <= TOLERANCE
    seen = (
        Observation(say("norm_difference"), f"{greatest:.2g}", expected=is_same_norm),
        *observed(say("zeros_training"), in_training, str, drops),
        *observed(say("zeros_inference"), in_inference, str, keeps),
    )
    is_right = is_same_norm and all(drops.values()) and all(keeps.values())
    return holds_or("does_not_hold", seen, is_right)


@TOPIC.claim(
    34,
    (
        "A plain list of layers registers no parameters; CellList, SequentialCell, ModuleList "
        "and Sequential do."
    ),
    heading=HEADING,
    guides=("001",),
    sections={"001": "Considerations for MindSpore Network Authoring"},
    would=(
        "A net with a list of two layers has 0 parameters in both frameworks, with a "
        "container more."
    ),
    asks=(CONTAINERS,),
    expects={"list": 0},
)
def containers(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when a plain list registers nothing and the containers register everything."""
    cells, modules = cells_and_modules(evidence, CONTAINERS)
    seen = tuple(_counts_seen(cells, modules))
    in_lists = {cells["list"], modules["list"]}
    if not (_containers_register(cells) and _containers_register(modules)):
        return Ruling("does_not_hold", seen)
    return holds_or("outdated", seen, in_lists == {expects["list"]})


def _counts_seen(cells: Mapping[str, int], modules: Mapping[str, int]) -> Iterator[Observation]:
    """The number of parameters that each framework finds in each container."""
    for framework, figures in (("mindspore", cells), ("torch", modules)):
        for name, count in figures.items():
            as_stated = bool(count) == (name != "list")
            what = say("parameters_in", container=name)
            yield Observation(what, str(count), (framework,), as_stated)


def _containers_register(figures: Mapping[str, int]) -> bool:
    """Whether every container registers parameters; a plain list is not a container."""
    return all(count for name, count in figures.items() if name != "list")


@TOPIC.claim(
    35,
    (
        "named_children is cells_and_names, add_module is insert_child_to_cell, and parameters is"
        " get_parameters."
    ),
    heading=HEADING,
    guides=("000", "001"),
    sections={"000": "nn.Module", "001": "nn.Module/nn.Cell"},
    would="Each pair lists the same parts, or as many parameters, of the same net.",
    asks=(PARTS,),
)
def parts(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the guide's pairs list the same parts and as many parameters.

    It holds with changes when only the parameters are others.
    """
    answers = evidence[PARTS]
    cells = msgspec.convert(answers["mindspore"], CellParts)
    modules = msgspec.convert(answers["torch"], ModuleParts)
    children, all_cells = modules.named_children, cells.cells_and_names
    added, added_cells = modules.after_add_module, cells.after_insert_child_to_cell
    parameters, cell_parameters = modules.parameters, cells.get_parameters
    has_as_many = len(cell_parameters) == len(parameters)
    seen = (
        _names_seen("named_children()", children, "torch"),
        _names_seen("cells_and_names()", all_cells, "mindspore", all_cells == children),
        _names_seen(say("after_add_module"), added, "torch"),
        _names_seen(say("after_insert_child"), added_cells, "mindspore", added_cells == added),
        _names_seen("parameters()", parameters, "torch"),
        _names_seen("get_parameters()", cell_parameters, "mindspore", has_as_many),
    )
    advice: list[Message] = []
    if all_cells != children:
        advice.append(_advice_on_children(cells, modules))
    if added_cells != added:
        advice.append(say("list_after_insert"))
    if not has_as_many:
        advice.append(
            say(
                "trainable_params",
                cell_parameters=len(cell_parameters),
                parameters=len(parameters),
            )
        )
    if not advice:
        return Ruling("holds", seen)
    are_same_parts = all_cells == children and added_cells == added
    verdict: ClaimVerdict = "holds_with_changes" if are_same_parts else "does_not_hold"
    return Ruling(verdict, seen, sentences(*advice))


def _advice_on_children(cells: CellParts, modules: ModuleParts) -> Message:
    """Which call of MindSpore lists what named_children does, and whose cells_and_names is."""
    is_name_cells = cells.name_cells == modules.named_children
    is_named_modules = cells.cells_and_names == modules.named_modules
    if is_name_cells and is_named_modules:
        return say("use_both")
    if is_name_cells:
        return say("use_name_cells")
    return say("use_cells_and_names" if is_named_modules else "use_none")


def _names_seen(
    what: Text, names: Iterable[Text], framework: str, as_stated: bool | None = None
) -> Observation:
    return Observation(what, _listed(names), (framework,), as_stated)


def _listed(names: Iterable[Text]) -> Message:
    # A net itself has the empty name in cells_and_names and named_modules.
    return say("names", names=tuple(name or say("itself") for name in names))


@TOPIC.claim(
    36,
    (
        "PyTorch has four kinds of data object, MindSpore two; requires_grad on a Parameter "
        "decides what is trained."
    ),
    heading=HEADING,
    guides=("000", "001"),
    sections={"000": "Data Size", "001": "Tensor/Parameter"},
    would=(
        "PyTorch has Tensor, Variable, Parameter and Buffer, MindSpore Tensor and Parameter, "
        "without gradients on Tensor."
    ),
    asks=(KINDS_OF_DATA,),
    expects={
        "torch": ["Tensor", "Variable", "Parameter", "Buffer"],
        "mindspore": ["Tensor", "Parameter"],
    },
)
def kinds_of_data(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the kinds are the guide's and `requires_grad` decides.

    It holds with changes when a kind of PyTorch's is another's other name, and is outdated when
    MindSpore has further kinds.
    """
    answers = evidence[KINDS_OF_DATA]
    cells = msgspec.convert(answers["mindspore"], KindsInMindSpore)
    modules = msgspec.convert(answers["torch"], KindsInTorch)
    torch_kinds = list(modules.kinds)
    if modules.variable_is != "Tensor":
        torch_kinds.append("Variable")
    has_buffers = not raised(cells.registered) and bool(cells.registered)
    mindspore_kinds: list[Text] = list(cells.kinds)
    if has_buffers:
        mindspore_kinds.append(say("buffer"))
    tensor_has = cells.tensor_has
    decides = _requires_grad_decides(cells, modules)
    # PyTorch's kinds in any order; MindSpore's as they were looked up, which is the guide's order.
    torch_as_said = sorted(torch_kinds) == sorted(expects["torch"])
    mindspore_as_said = mindspore_kinds == expects["mindspore"]
    seen = (
        _names_seen(say("kinds"), torch_kinds, "torch", torch_as_said),
        Observation(say("variable_is"), modules.variable_is, ("torch",)),
        _names_seen(say("kinds"), mindspore_kinds, "mindspore", mindspore_as_said),
        _names_seen(say("on_tensor"), tensor_has or [say("nothing")], "mindspore", not tensor_has),
        Observation(say("requires_grad"), yes_or_no(decides), FRAMEWORKS, decides),
    )
    if not decides:
        return Ruling("does_not_hold", seen)
    if not mindspore_as_said or tensor_has:
        return Ruling("outdated", seen, "" if has_buffers else "without buffers")
    return holds_or("holds_with_changes", seen, torch_as_said)


def _requires_grad_decides(cells: KindsInMindSpore, modules: KindsInTorch) -> bool:
    """Whether a weight whose `requires_grad` is False is trained in neither framework."""
    is_trainable = "weight" in cells.trainable
    return not is_trainable and not modules.has_gradient["weight"]
