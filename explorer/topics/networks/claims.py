"""Claims about networks: modes, registering, names of parts, kinds of data, what a graph takes
(rows 32-36, 39).
"""

from typing import Any

from explorer.model.claim import Ruling
from explorer.model.engines import FRAMEWORKS
from explorer.model.measurement import Measurement
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.topic import Claim

TOLERANCE = 1e-5
SLICING = ("by_tensor", "slice_by_tensor", "by_mask")


def pair(function: str) -> tuple[Measurement, ...]:
    """One question about cells and modules, put to both frameworks."""
    return tuple(
        Measurement(
            name=f"cells.{function}.{each}",
            kind=each,
            target=f"explorer.topics.networks.in_{each}:{function}",
        )
        for each in FRAMEWORKS
    )


def of(evidence: Evidence, function: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What MindSpore and PyTorch answered to one question."""
    return evidence[f"cells.{function}.mindspore"], evidence[f"cells.{function}.torch"]


def starting_mode(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when every cell starts in inference mode and every module in training mode."""
    cells, modules = of(evidence, "starting_mode")
    told = f"training is {_values(cells)} in a new Cell, {_values(modules)} in a new Module"
    if set(cells.values()) == {expects["cell"]} and set(modules.values()) == {expects["module"]}:
        return Ruling(
            "holds",
            told,
            "Call set_train() before you train a Cell, and eval() before you use a Module.",
        )
    if set(cells.values()) == set(modules.values()):
        return Ruling(
            "outdated",
            told,
            "Both frameworks start in the same mode now; still, say which you want.",
        )
    return Ruling(
        "does_not_hold",
        told,
        "Say which mode you want instead of relying on the one that a net starts in.",
    )


def modes(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when batch norm gives the same in both modes on both frameworks, and dropout drops in
    training only.
    """
    cells, modules = of(evidence, "modes")
    worst = max(
        greatest_difference(cells[mode][what], modules[mode][what])
        for mode in ("training", "inference")
        for what in ("norm", "running_mean")
    )
    zeros = {
        mode: (cells[mode]["dropout_zeros"], modules[mode]["dropout_zeros"])
        for mode in ("training", "inference")
    }
    told = (
        f"batch norm differs by at most {worst:.2g} over both modes; of 100 elements dropout zeroes {zeros['training']} in "
        f"training and {zeros['inference']} in inference (MindSpore, PyTorch)"
    )
    if worst <= TOLERANCE and all(zeros["training"]) and not any(zeros["inference"]):
        return Ruling(
            "holds", told, "Replace train() by set_train(True) and eval() by set_train(False)."
        )
    return Ruling(
        "does_not_hold",
        told,
        "Do not take set_train for train(): compare the layers that depend on the mode one by one.",
    )


def containers(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when a plain list registers nothing and the containers register everything."""
    cells, modules = of(evidence, "containers")
    told = f"parameters found: {_named(cells)} in MindSpore; {_named(modules)} in PyTorch"
    lists, others = (
        {cells["list"], modules["list"]},
        [n for each in (cells, modules) for name, n in each.items() if name != "list"],
    )
    if lists == {expects["list"]} and all(others):
        return Ruling(
            "holds",
            told,
            "Keep layers in CellList or SequentialCell, ModuleList or Sequential, never in a plain list.",
        )
    if all(others):
        return Ruling(
            "outdated",
            told,
            "A plain list registers its layers in at least one framework now; the containers do in both.",
        )
    return Ruling("does_not_hold", told, "Count a net's parameters before you train it.")


def parts(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the guide's counterparts list the same parts; with changes when the parameters
    they list are others.
    """
    cells, modules = of(evidence, "parts")
    children = (
        cells["name_cells"] == modules["named_children"]
        and cells["cells_and_names"] == modules["named_modules"]
    )
    adding = cells["after_insert_child_to_cell"] == modules["after_add_module"]
    ours, theirs = cells["get_parameters"], modules["parameters"]
    told = (
        f"children {_list(cells['name_cells'])} and {_list(modules['named_children'])}; after adding one "
        f"{_list(cells['after_insert_child_to_cell'])} and {_list(modules['after_add_module'])}; "
        f"get_parameters gives {_list(ours)}, parameters {_list(theirs)}"
    )
    if not (children and adding):
        return Ruling(
            "does_not_hold", told, "Look up each call: the counterparts do not list the same parts."
        )
    if len(ours) == len(theirs):
        return Ruling(
            "holds", told, "Use name_cells for named_children, insert_child_to_cell for add_module."
        )
    return Ruling(
        "holds_with_changes",
        told,
        "Use trainable_params() for parameters(): get_parameters() also has what PyTorch keeps in buffers.",
    )


def kinds_of_data(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the kinds are the guide's; with changes when only `requires_grad` is as it says;
    outdated otherwise.
    """
    cells, modules = of(evidence, "kinds_of_data")
    variable = modules["Variable_is"] != "Tensor"
    theirs = [*modules["kinds"], *(["Variable"] if variable else [])]
    decides = (
        "weight" not in cells["trainable_after_requires_grad_False"]
        and not modules["has_gradient"]["weight"]
    )
    told = (
        f"PyTorch has {_list(theirs)} (Variable is {modules['Variable_is']}); MindSpore has {_list(cells['kinds'])}, "
        f"{_list(cells['buffers']) or 'no buffers'} on Cell, and on Tensor {_list(cells['tensor_has']) or 'nothing'}; "
        f"requires_grad=False {'takes' if decides else 'does not take'} a parameter out of training in both"
    )
    as_said = (
        sorted(theirs) == sorted(expects["torch"])
        and cells["kinds"] == expects["mindspore"]
        and not cells["buffers"]
    )
    if as_said and decides and not cells["tensor_has"]:
        return Ruling(
            "holds", told, "Use Parameter for what is trained, Tensor for everything else."
        )
    if decides:
        return Ruling(
            "holds_with_changes",
            told,
            "Freeze a parameter with requires_grad=False as before; for the rest go by the kinds found here, not by the guide's.",
        )
    return Ruling(
        "outdated",
        told,
        "Check with trainable_params() and .grad what is trained: requires_grad alone does not say.",
    )


def graph_limits(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when graph style refuses slices that the tape takes; with changes when only something
    else is restricted.
    """
    slices, _ = of(evidence, "slices")
    compiled = evidence["cells.compilations.mindspore"]
    names = [name.removesuffix(".graph") for name in slices if name.endswith(".graph")]
    refused = [
        name
        for name in names
        if _fails(slices[f"{name}.graph"]) and not _fails(slices[f"{name}.tape"])
    ]
    anew = compiled["fixed"] > 1
    reason = f" ({said(slices[refused[-1] + '.graph']['value'])})" if refused else ""
    told = (
        f"graph style refuses {_list(refused) or 'none'} of {_list(names)}, all of which the tape takes{reason}; "
        f"{compiled['lengths']} lengths of a vector are {compiled['fixed']} compilations, "
        f"{compiled['dynamic']} with a dynamic dimension declared"
    )
    if all(name in refused for name in SLICING):
        return Ruling(
            "depends_on_style",
            told,
            "Index by constants in graph style, or run that part on the tape.",
        )
    if refused or anew:
        return Ruling(
            "holds_with_changes",
            told,
            "Index by tensors and masks freely in graph style too; declare varying dimensions with "
            "set_inputs(Tensor(shape=[None])), and keep Python loops over a tensor's value out of it.",
        )
    return Ruling("outdated", told, "Nothing of it is restricted in graph style any more.")


def _fails(figure: dict[str, Any]) -> bool:
    return raised(figure["value"])


def _values(figures: dict[str, bool]) -> str:
    return "/".join(sorted({str(value) for value in figures.values()}))


def _named(figures: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in figures.items())


def _list(names: list[str]) -> str:
    return ", ".join(name or "(itself)" for name in names)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id=32, topic="networks", guides=("000", "001"), judge=starting_mode, measurements=pair("starting_mode"),
        statement="A Cell starts in inference mode, a Module in training mode.",
        would="`training` is False on every new Cell and True on every new Module.",
        expects={"cell": False, "module": True},
    ),
    Claim(
        id=33, topic="networks", guides=("000", "001"), judge=modes, measurements=pair("modes"),
        statement="set_train(True) and set_train(False) do what train() and eval() do.",
        would="Batch norm and dropout behave alike in both modes on both frameworks.",
    ),
    Claim(
        id=34, topic="networks", guides=("001",), judge=containers, measurements=pair("containers"),
        statement="A plain list of layers registers no parameters; CellList, SequentialCell, ModuleList and Sequential do.",
        would="A net with a list of two layers has 0 parameters in both frameworks, with a container more.",
        expects={"list": 0},
    ),
    Claim(
        id=35, topic="networks", guides=("001",), judge=parts, measurements=pair("parts"),
        statement="Children, all parts, adding a part and parameters have counterparts: name_cells, cells_and_names, "
        "insert_child_to_cell, get_parameters.",
        would="The counterparts list the same parts and the same parameters of the same net.",
    ),
    Claim(
        id=36, topic="networks", guides=("000", "001"), judge=kinds_of_data, measurements=pair("kinds_of_data"),
        statement="PyTorch has four kinds of data object, MindSpore two; requires_grad on a Parameter decides what is trained.",
        would="PyTorch has Tensor, Variable, Parameter and Buffer, MindSpore Tensor and Parameter, without gradients on Tensor.",
        expects={"torch": ["Tensor", "Variable", "Parameter", "Buffer"], "mindspore": ["Tensor", "Parameter"]},
    ),
    Claim(
        id=39, topic="networks", guides=("000", "001"), judge=graph_limits,
        measurements=(
            *pair("slices"),
            Measurement(
                name="cells.compilations.mindspore", kind="mindspore", target="explorer.topics.networks.in_mindspore:compilations"
            ),
        ),
        statement="Slicing by variable indices and dynamic shapes are restricted in graph style.",
        would="Graph style refuses or recompiles what the tape takes.",
    ),
)  # fmt: skip
