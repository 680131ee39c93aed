"""Verdicts on networks: those of the recorded figures after a change, and of figures written down."""

import inspect
from pathlib import Path
from typing import Any

from explorer.model.measurement import Figures
from explorer.topics.networks.claims_porting import SLICING
from explorer.topics.networks.inputs import (
    CODE,
    INDEXING,
    MEAN,
    SAMPLES,
    VARIANCE,
    WEIGHT,
    while_below_tensor,
)
from explorer.topics.networks.questions import (
    AMP_LEVEL,
    BATCHES,
    COMPILATIONS,
    CONTAINERS,
    KINDS_OF_DATA,
    LISTINGS,
    MODES,
    NOT_TRAINED,
    PARAMETERS,
    PARTS,
    SLICES,
    STARTING_MODE,
)
from explorer.topics.question import MINDSPORE_STYLES
from tests.support.rulings import USUAL, Case, Written, following
from tests.support.topics import Change, borrowed, moved, put, together, unchanged

another_norm = moved(MODES, ["mindspore"], "training", "norm", 0, 0, by=0.001)

RULINGS = [
    Case(32, borrowed(STARTING_MODE, "mindspore", by="torch"), "outdated"),
    Case(32, put(STARTING_MODE, ["torch"], "own", value=False), "does_not_hold"),
    Case(33, another_norm, "does_not_hold"),
    Case(33, put(MODES, ["torch"], "inference", "dropout_zeros", value=50), "does_not_hold"),
    Case(34, put(CONTAINERS, ["torch"], "list", value=4), "outdated"),
    Case(34, put(CONTAINERS, ["mindspore"], "CellList", value=0), "does_not_hold"),
]

# Row 39: graph style is limited by what it alone refuses, and by lengths

LOOPS = ("while_below_tensor", "loop_to_tensor")

RIGHT = {"value": [2.0, 3.0], "gradient": [0.0, 1.0, 1.0]}
NO_SLICE = {"raised": "TypeError", "message": "no such slice"}
NO_VALUE = {"value": NO_SLICE, "gradient": NO_SLICE}
NO_GRADIENT = {"value": [2.0, 3.0], "gradient": {"raised": "ValueError", "message": "shape -1"}}
ANOTHER_GRADIENT = {"value": [2.0, 3.0], "gradient": [0.0, 0.0, 1.0]}

ONCE = {"gradient": 1, "gradient_in_a_cell": 1, "lengths": 3}
DECLARED = {"fixed": 3, "dynamic": 1, **ONCE}
NOT_DECLARED = {"fixed": 3, "dynamic": {"raised": "ValueError", "message": "no -1"}, **ONCE}
COMPILED_ANEW = {"fixed": 3, "dynamic": 3, **ONCE}
NEVER_ANEW = {"fixed": 1, "dynamic": 1, **ONCE}
NOT_FOR_GRADIENTS = {**DECLARED, "gradient": 3}
NOWHERE_FOR_GRADIENTS = {**NOT_FOR_GRADIENTS, "gradient_in_a_cell": 3}


def limits(compiled: Figures, refused_on_the_tape: str = "", **in_graph: Any) -> Written:
    """A world where graph style takes every construct but those that are named.

    The tape takes all but one, if that is named.
    """
    slices: Figures = {}
    for construct in (*SLICING, *LOOPS):
        slices[f"{construct}.graph"] = in_graph.get(construct, RIGHT)
        slices[f"{construct}.tape"] = NO_VALUE if construct == refused_on_the_tape else RIGHT
    # PyTorch is asked beside it, and has no say.
    return {
        (SLICES, "mindspore"): slices,
        (SLICES, "torch"): {},
        (COMPILATIONS, "mindspore"): compiled,
    }


ALL_REFUSED: dict[str, Any] = dict.fromkeys(SLICING, NO_VALUE)
AS_ON_THE_TAPE = "Read and write by tensors and masks in graph style as on the tape."
BY_CONSTANTS = "Index by constants in graph style"
MASKS = "x[x > 1] on the tape"
IN_A_CELL = "Declare them to a Cell that calls ms.grad"
IN_VAIN = "compilations of ms.grad of a cell declared so: 3"
ON_BOTH = "x[x > 1], where at is a tensor: refused, on the tape too"


RULINGS += [
    Case(39, limits(NEVER_ANEW), "outdated", AS_ON_THE_TAPE, unsaid="set_inputs"),
    # A length that can be declared is no restriction; one that cannot be is.
    Case(
        39, limits(DECLARED), "outdated", "Declare varying dimensions", unsaid="Pad to one length"
    ),
    Case(39, limits(NOT_DECLARED), "holds_with_changes", "Pad to one length", unsaid="set_inputs"),
    Case(39, limits(COMPILED_ANEW), "holds_with_changes", "Pad to one length", unsaid="set_inputs"),
    Case(
        39, limits(NOT_FOR_GRADIENTS), "holds_with_changes", IN_A_CELL, IN_VAIN, "Pad to one length"
    ),
    Case(39, limits(NOWHERE_FOR_GRADIENTS), "holds_with_changes", "", unsaid=IN_A_CELL),
    # One construct that is refused or wrong is a restriction, and the advice names it.
    *(
        Case(39, limits(DECLARED, by_mask=it), "holds_with_changes", MASKS, unsaid=AS_ON_THE_TAPE)
        for it in (NO_VALUE, NO_GRADIENT, ANOTHER_GRADIENT)
    ),
    Case(
        39, limits(NOT_DECLARED, by_mask=NO_VALUE), "holds_with_changes", MASKS, unsaid=BY_CONSTANTS
    ),
    # What the tape refuses too is no limit of graph style.
    Case(39, limits(DECLARED, "by_mask", by_mask=NO_VALUE), "outdated", "", ON_BOTH, MASKS),
    # Everything is restricted where no slice and no length is taken.
    Case(39, limits(NOT_DECLARED, **ALL_REFUSED), "holds", BY_CONSTANTS, unsaid=MASKS),
    Case(39, limits(COMPILED_ANEW, **ALL_REFUSED), "holds", "Pad to one length", unsaid=MASKS),
    Case(39, limits(DECLARED, **ALL_REFUSED), "holds_with_changes", BY_CONSTANTS, unsaid=MASKS),
    # A loop that is refused is no slice, and has advice of its own.
    Case(
        39,
        limits(DECLARED, loop_to_tensor=NO_VALUE),
        "outdated",
        "In place of range(tensor) write a while loop",
        "the value is refused (TypeError: no such slice)",
    ),
    Case(
        39,
        limits(DECLARED, loop_to_tensor=NO_VALUE, while_below_tensor=NO_VALUE),
        "outdated",
        "In place of range(tensor) loop over a number known beforehand",
        "for index in range(at)",
    ),
]


def test_constructs_are_shown_by_code_that_the_functions_have() -> None:
    sources = {function.__name__: inspect.getsource(function) for function in INDEXING}
    sources["while_below_tensor"] = inspect.getsource(while_below_tensor)
    in_mindspore = Path(inspect.getfile(INDEXING[0])).with_name("in_mindspore.py")
    sources["loop_to_tensor"] = in_mindspore.read_text(encoding="utf-8")
    assert sources.keys() == CODE.keys()
    for name, code in CODE.items():
        assert code in sources[name]


def holding(names: list[str]) -> Figures:
    """A container with what it registers of two Parameters: of 2 · 3 + 1, and its gradients."""
    return {"registered": names, "value": 7.0, "gradients": [[3.0], [1.0]][: len(names)]}


# A list is judged by what it registers.
RULINGS += [
    Case(74, unchanged, "holds", "gives outputs, and is not trained"),
    Case(
        74,
        put(PARAMETERS, ["mindspore"], "list", value=holding(["factor", "addend"])),
        "outdated",
        USUAL,
    ),
    Case(
        74,
        put(PARAMETERS, ["mindspore"], "ParameterTuple", value=holding(["factor"])),
        "does_not_hold",
        USUAL,
    ),
    # PyTorch is evidence alone.
    Case(
        74, put(PARAMETERS, ["torch"], "list", value=holding(["0", "1"])), "holds", "ParameterTuple"
    ),
]


NO_KERNEL_SIZE = {"raised": "TypeError", "message": "one argument is missing"}
PRINTED = "nn.Conv2d(1, 3)"


def lines(made: Any, is_chosen: bool) -> Written:
    """What one printed line of MindSpore makes, and whether PyTorch reads the variable."""
    return {
        (LISTINGS, "mindspore"): {
            "as printed": {PRINTED: made},
            "as meant": {"nn.Conv2d(1, 3, 3)": "Conv2d"},
        },
        (LISTINGS, "torch"): {"as printed": is_chosen, "as meant": True},
    }


AS_MEANT = "nn.Conv2d(1, 3, 3), as meant, makes: Conv2d (MindSpore)"

# Printed lines hold where they run and the variable is read.
RULINGS += [
    Case(92, lines(NO_KERNEL_SIZE, False), "does_not_hold", "", AS_MEANT),
    Case(92, lines("Conv2d", False), "does_not_hold", "", AS_MEANT),
    Case(92, lines(NO_KERNEL_SIZE, True), "does_not_hold", "", AS_MEANT),
    Case(92, lines("Conv2d", True), "holds", "", AS_MEANT),
]

OWN = ["Float16", "Float32", "Float16"]
UNSUPPORTED = {"raised": "TypeError", "message": "no kernel"}


def level(name: str, dtypes: Any, *styles: str) -> Change:
    return put(AMP_LEVEL, styles or MINDSPORE_STYLES, name, value=dtypes)


def levels(dtypes: Any, *styles: str) -> Change:
    return together(level("O2", dtypes, *styles), level("O3", dtypes, *styles))


# A level conflicts where it changes the dtypes.
RULINGS += [
    Case(76, unchanged, "holds", "O2 and O3 change it without a word."),
    Case(76, level("O2", OWN), "holds", "to_float: O3 change it"),
    Case(76, levels(UNSUPPORTED), "holds", "the level raises."),
    Case(76, levels(OWN, "mindspore-tape"), "depends_on_style", "without a word in one style."),
    Case(76, levels(OWN), "does_not_hold", USUAL),
]


def outputs() -> list[list[float]]:
    """The net's outputs by the formulas of batch norm and of a dense layer."""
    normalised = (SAMPLES - MEAN) / (VARIANCE + 1e-5) ** 0.5
    values: list[list[float]] = (normalised @ WEIGHT.T).tolist()
    return values


def off_by(difference: float, way: str, *styles: str) -> Change:
    """One output of a way to batch is off."""
    return moved(BATCHES, styles, way, 0, 0, by=difference)


def nothing_dropped(*styles: str) -> Change:
    """Some styles keep the rest of the samples though they are to drop it."""
    return put(BATCHES, styles, "dropping the rest", value=outputs())


dropped_by_default = together(
    *(put(BATCHES, MINDSPORE_STYLES, it, value=outputs()[:4]) for it in ("by default", "again"))
)


# Inference is compared for all samples.
RULINGS += [
    Case(78, unchanged, "holds", "keep the default, which drops nothing"),
    Case(78, dropped_by_default, "holds", "write drop_remainder=False"),
    Case(78, nothing_dropped(*MINDSPORE_STYLES), "holds_with_changes", USUAL),
    Case(78, nothing_dropped("mindspore-graph"), "holds_with_changes", USUAL),
    Case(78, off_by(0.9e-5, "one by one", "mindspore-graph"), "holds", "Compare inference first"),
    Case(78, off_by(1.2e-5, "one by one", "mindspore-graph"), "depends_on_style", USUAL),
    Case(78, off_by(0.1, "keeping the rest", "mindspore-tape"), "depends_on_style", USUAL),
    Case(78, off_by(0.1, "again", *MINDSPORE_STYLES), "does_not_hold", USUAL),
]


# Parts of a net with a block of two layers and a layer after it

CHILDREN = ["block", "fc"]
ALL = ["", "block", "block.0", "block.1", "fc"]
ADDED = ["block", "fc", "head"]
TRAINED = ["weight", "bias"]
WITH_BUFFERS = [*TRAINED, "moving_mean"]


def parts(
    cells: Any = CHILDREN,
    children: Any = CHILDREN,
    added: Any = ADDED,
    parameters: Any = TRAINED,
    modules: Any = ALL,
) -> Change:
    """MindSpore's calls list these parts; cells_and_names is named first."""
    in_mindspore = {
        "cells_and_names": cells,
        "name_cells": children,
        "after_insert_child_to_cell": added,
        "get_parameters": parameters,
    }
    in_torch = {"named_modules": modules, "parameters": TRAINED}
    return together(
        put(PARTS, ["mindspore"], value=in_mindspore),
        *(put(PARTS, ["torch"], name, value=names) for name, names in in_torch.items()),
    )


# The guides pairs are judged and not better ones.
RULINGS += [
    Case(35, parts(), "holds", USUAL),
    # MindSpore calls batch norm's weight gamma: how many there are is what counts.
    Case(35, parts(parameters=["gamma", "bias"]), "holds", USUAL),
    Case(
        35,
        parts(parameters=WITH_BUFFERS),
        "holds_with_changes",
        "has 3 where parameters() has 2",
        unsaid="name_cells",
    ),
    Case(
        35,
        parts(ALL),
        "does_not_hold",
        "name_cells for named_children, cells_and_names for named_m",
        unsaid="trainable_params",
    ),
    Case(35, parts(ALL, modules=CHILDREN), "does_not_hold", "Use name_cells for named_children."),
    Case(
        35, parts(ALL, children=["fc"]), "does_not_hold", "Use cells_and_names for named_modules."
    ),
    Case(35, parts(ALL, children=["fc"], modules=["fc"]), "does_not_hold", "no call of MindSpore"),
    Case(35, parts(added=CHILDREN), "does_not_hold", "not add_module's"),
]


# Kinds of data


def kinds(
    variable: str = "Variable",
    buffers: Any = (),
    tensor_has: Any = (),
    mindspore: Any = ("Tensor", "Parameter"),
    *,
    trains: bool = False,
) -> Change:
    """A frozen weight is trained or not, and MindSpore has these kinds."""
    return together(
        put(KINDS_OF_DATA, ["mindspore"], "kinds", value=list(mindspore)),
        put(KINDS_OF_DATA, ["mindspore"], "registered", value=buffers),
        put(KINDS_OF_DATA, ["mindspore"], "tensor_has", value=list(tensor_has)),
        put(KINDS_OF_DATA, ["torch"], "Variable_is", value=variable),
        put(KINDS_OF_DATA, ["torch"], "has_gradient", "weight", value=trains),
    )


NO_BUFFERS = {"raised": "AttributeError", "message": "no register_buffer"}


# Kinds are judged as they are on both sides.
RULINGS += [
    Case(36, kinds(), "holds", USUAL),
    Case(36, kinds(buffers=NO_BUFFERS), "holds", USUAL),
    Case(36, kinds("Tensor"), "holds_with_changes", USUAL),
    Case(36, kinds("Tensor", buffers=["mean"]), "outdated", "becomes of a buffer and of a Tensor"),
    Case(36, kinds("Tensor", tensor_has=["requires_grad_"]), "outdated", "becomes of a Tensor"),
    Case(
        36, kinds(mindspore=("Tensor", "Variable", "Parameter")), "outdated", "becomes of a Tensor"
    ),
    Case(36, kinds("Tensor", buffers=["mean"], trains=True), "does_not_hold", USUAL),
]


def output_of_tensor(output: float) -> Change:
    """What the net gives once its Tensor was changed to 9."""
    return put(NOT_TRAINED, MINDSPORE_STYLES, "after", "tensor", value=output)


TENSOR_SAVED = put(NOT_TRAINED, MINDSPORE_STYLES, "saved", value=["tensor", "parameter"])

# A tensor must be seen changed, and be saved.
RULINGS += [
    Case(88, together(output_of_tensor(9.0), TENSOR_SAVED), "holds", USUAL),
    Case(88, output_of_tensor(9.0), "holds_with_changes", "Parameter(requires_grad=False)"),
    Case(88, unchanged, "depends_on_style", "Parameter(requires_grad=False)"),
    Case(88, output_of_tensor(2.0), "does_not_hold", "Parameter(requires_grad=False)"),
]

test_verdict_and_advice_follow_the_figures = following(RULINGS)
