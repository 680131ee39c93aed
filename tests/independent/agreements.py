"""The figures of the explorer's records that the independent programs find too."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

Path = tuple[str | int, ...]
"""The way to a figure through nested dicts and lists.

EVERY stands for each element of a list or dict, NAMES at the end for the sorted keys of a dict.
"""

EVERY, NAMES = "*", "names of"

Paths = tuple[str | int | list[str], ...]
"""Several ways in one row of the table: a list stands for each of its steps."""

EXACT = 0.0
NEAR = 1e-6
"""Of float32 numbers: as a share of the greatest element of the figure."""

SUMS = 1e-4
"""Of float32 numbers that are sums, quotients and roots of many."""

SAMPLED = 0.03
"""Of shares and deviations of thousands of random numbers."""

FORM, TORCH, GRAPH, TAPE = "closed form", "torch", "mindspore-graph", "mindspore-tape"
"""Who finds a figure: the finders of the runner."""

STYLES = (GRAPH, TAPE)
EVERYWHERE = (*STYLES, TORCH)
TORCH_TAPE, TORCH_GRAPH, TORCH_FUNC = "torch-tape", "torch-graph", "torch-func"
IN_TORCH = (TORCH_TAPE, TORCH_GRAPH)
MINDSPORE, NN, EXPERIMENTAL, KERAS = "mindspore", "nn", "experimental", "keras"
FRAMEWORKS = (MINDSPORE, TORCH)
LIBRARIES = (*FRAMEWORKS, KERAS)
ENGINES = (*STYLES, *IN_TORCH)

OWN = "own"
"""Who finds a figure: the party itself, by its own answer to the same question; else as in OWN_FINDERS."""

OWN_FINDERS = {
    MINDSPORE: TAPE,
    NN: TAPE,
    EXPERIMENTAL: TAPE,
    TORCH_TAPE: TORCH,
    TORCH_GRAPH: TORCH,
    TORCH_FUNC: TORCH,
}


class Agreement(NamedTuple):
    """A figure of a record, and the figure of an independent program that it agrees with.

    ``subject`` is a claim's row or a study's name; ``measurement`` and ``path`` lead to the figure in its
    record, ``finder`` and ``figure`` to that of the program of the same row or study.
    """

    subject: int | str
    measurement: str
    path: Path
    finder: str
    figure: Path
    tolerance: float


AGREEMENTS: list[Agreement] = []

WITHOUT_PROGRAM = {
    77: "what Ascend takes is found on an Ascend NPU; no figure of another device decides the row"
}
"""The claims that no program finds the figures of, by row, each with the reason."""

SHARED: dict[int | str, int] = {
    **dict.fromkeys((2, 3, 4, 5, 6, 7, 8, 10), 1),
    20: 19,
    24: 23,
    46: 45,
    49: 72,
    50: 72,
    52: 19,
    70: 22,
    81: 80,
    87: 45,
    91: 75,
    94: 86,
    "data-parallel": 61,
    "operators": 85,
    "schedules": 56,
    "stages": 28,
}
"""Claims and studies whose figures the program of another claim finds, by whose."""

KINDS_LEFT_OUT = {
    "message": "the text of an error is the framework's; its class is compared",
    "fingerprint": "names a graph by its text; whether two are one is compared",
    "notice": "the text of a warning is the framework's",
    "deprecated": "the text of a warning is the framework's",
    "p": "the share of draws that would differ more goes by the draw; what is drawn is compared",
}
"""Figures that no program finds, by a step of the way to them, each with the reason."""


class LeftOut(NamedTuple):
    """Figures of a claim that no program finds: of measurements whose name begins so."""

    subject: int
    measurement: str
    path: Path
    why: str


LEFT_OUT: list[LeftOut] = []


def leave_out(subject: int, measurement: str, path: Paths, why: str) -> None:
    """Enter figures of a claim that its evidence shows and no program finds, with the reason."""
    for way, _ in ways(path, ()):
        LEFT_OUT.append(LeftOut(subject, measurement, way, why))


def agree(
    subject: int | str,
    question: str,
    parties: str | tuple[str, ...],
    path: Paths,
    finder: str,
    figure: Paths | None = None,
    tolerance: float = NEAR,
) -> None:
    """Enter figures of every party's answer to a question.

    ``figure`` is where the program has them, at the same place if it is not given; a list in it goes along
    with the list of ``path`` that is the same, or else with the first that is as long.
    """
    for party in (parties,) if isinstance(parties, str) else parties:
        by = OWN_FINDERS.get(party, party) if finder == OWN else finder
        for way, way_to_figure in ways(path, path if figure is None else figure):
            measurement = f"{question}.{party}"
            AGREEMENTS.append(Agreement(subject, measurement, way, by, way_to_figure, tolerance))


def ways(path: Paths, figure: Paths) -> Iterator[tuple[Path, Path]]:
    """Every choice of one step from each list of ``path``, with what goes along of ``figure``."""
    lists = [step for step in path if isinstance(step, list)]
    partners = [_partner(step, lists) for step in figure if isinstance(step, list)]
    for places in product(*(range(len(steps)) for steps in lists)):
        yield _chosen(path, places), _chosen(figure, tuple(places[index] for index in partners))


def _partner(steps: list[str], lists: list[list[str]]) -> int:
    if steps in lists:
        return lists.index(steps)
    return [len(others) for others in lists].index(len(steps))


def _chosen(path: Paths, places: tuple[int, ...]) -> Path:
    remaining = iter(places)
    return tuple(step[next(remaining)] if isinstance(step, list) else step for step in path)


RAISED: Path = ("raised",)

# Calls of grad

NET = "gradients.grad(dense_mse, grad_position={}, weights={}, has_aux={})"
CALLS = {
    1: NET.format("0", None, True),
    2: NET.format("1", None, True),
    3: NET.format("(0, 1)", None, True),
    4: NET.format("None", "all", True),
    5: NET.format("0", "all", True),
    6: NET.format("(0, 1)", "all", True),
    7: NET.format("0", None, False),
}
for row, call in CALLS.items():
    agree(row, call, (*STYLES, TORCH_TAPE), ("values",), FORM, (str(row), "values"))
    agree(row, call, STYLES, (["values", "structure"],), OWN, (str(row), ["values", "structure"]))
    agree(row, call, TORCH_TAPE, ("structure",), GRAPH, (str(row), "structure"))
    with_value = call.replace(".grad(", ".value_and_grad(")
    agree(10, with_value, STYLES, ("values",), FORM, (str(row), "with value"))
    agree(10, with_value, STYLES, ("structure",), OWN, (str(row), "with value"))

OF_THE_SUM = "gradients.grad(loss + logits, grad_position=0, weights=None, has_aux=False)"
agree(8, OF_THE_SUM, (*STYLES, TORCH_TAPE), ("values",), FORM, ("7", "values"))
agree(8, OF_THE_SUM, STYLES, ("structure",), OWN, ("of the sum", "structure"))
agree(8, OF_THE_SUM, TORCH_TAPE, ("structure",), GRAPH, ("of the sum", "structure"))
NEITHER = NET.format("None", None, False)
agree(9, NEITHER, (*STYLES, TORCH_TAPE), (["raised", "message"],), OWN)

OLDER = {
    "first": ("0", False, False),
    "all": ("(0, 1)", True, False),
    "by list": ("None", False, True),
    "all, by list": ("(0, 1)", True, True),
}
for name, (position, get_all, by_list) in OLDER.items():
    settings = f"get_all={get_all}, get_by_list={by_list}, sens_param=False"
    older = f"gradients.GradOperation({settings})(dense_mse{', weights' if by_list else ''})"
    values_and_structure: Paths = (name, ["values", "structure"])
    agree(11, older, STYLES, (["values", "structure"],), OWN, values_and_structure)
    newer = NET.format(position, "all" if by_list else None, False)
    agree(11, newer, STYLES, ("values",), OWN, (name, "values"))

TOLD = "gradients.grad(custom_gradient, grad_position=0, weights=None, has_aux=False)"
SAMPLER = "gradients.sampler"
agree(75, TOLD, (*STYLES, *IN_TORCH), ("values", 0), FORM, ("told",))
agree(75, SAMPLER, GRAPH, ("as printed", "raised"), GRAPH, ("bare", "raised"))
agree(75, SAMPLER, TAPE, ("as printed", "gradient"), TAPE, ("bare",))
agree(75, SAMPLER, TAPE, (["as printed", "as meant"], "gradient"), FORM, ("kept",))
agree(75, SAMPLER, GRAPH, ("as meant", "gradient"), FORM, ("drawn again",))
agree(75, SAMPLER, STYLES, ("as meant", "places"), FORM, ("places",))
agree(75, SAMPLER, TAPE, ("without", "gradient"), FORM, ("without",))
agree(75, "gradients.function", TORCH_TAPE, ("as meant", "gradient"), FORM, ("kept",))
agree(75, "gradients.function", TORCH_TAPE, ("without", "raised"), TORCH)
leave_out(
    75, "gradients.function.torch-graph", (EVERY, "raised"), "numpy inside: Dynamo takes no part"
)
agree(91, TOLD, STYLES, ("structure",), FORM)

OUTPUTS = "gradients.outputs"
REFUSED_OUTPUTS = ["one output", "a tuple of one"]
refusing: Paths = (["one", "a tuple of one"], "raised")
agree(80, OUTPUTS, (TAPE, TORCH), ("has_aux", REFUSED_OUTPUTS, "raised"), OWN, refusing)
agree(80, OUTPUTS, GRAPH, ("has_aux", "one output", "raised"), OWN, ("one", "raised"))
agree(80, OUTPUTS, GRAPH, ("has_aux", "a tuple of one"), OWN, ("a tuple of one",))
agree(80, OUTPUTS, EVERYWHERE, ("has_aux", "two outputs", 0), FORM, ("gradient",))
agree(80, OUTPUTS, STYLES, ("has_aux", "two outputs", 1, 0), FORM, ("beside",))
agree(80, OUTPUTS, TORCH, ("has_aux", "two outputs", 1), FORM, ("beside",))
both_and_stopped: Paths = ("without", ["two outputs", "stop_gradient"])
agree(81, OUTPUTS, EVERYWHERE, both_and_stopped, FORM, (["both", "gradient"],))
too_early: Paths = ("without", "stop_gradient too early")
agree(81, OUTPUTS, STYLES, too_early, FORM, ("nothing",))
agree(81, OUTPUTS, TORCH, (*too_early, "raised"), TORCH, ("stopped before", "raised"))

ARGUMENTS = "gradients.arguments"
POSITIONS = ["0", "1", "(0, 1)"]
GIVEN_TWICE = "one Parameter twice"
SEQUENCES = ["list", "tuple", GIVEN_TWICE, "Parameter"]
ELSEWHERE = ["empty list", "another net's Parameter"]
for party, positions, weight_forms in (
    (GRAPH, POSITIONS, ["ParameterTuple", *SEQUENCES, *ELSEWHERE]),
    (TAPE, [*POSITIONS, "True"], ["ParameterTuple", *SEQUENCES, *ELSEWHERE, "Tensor"]),
    (TORCH, [*POSITIONS, "True", "-1"], SEQUENCES),
):
    agree(82, ARGUMENTS, party, ("positions", positions), OWN)
    agree(82, ARGUMENTS, party, ("weights", weight_forms), OWN)
NO_POSITIONS = ["'0'", "[0, 1]", "()", "(0, 0)", "2"]
for party, positions, weight_forms in (
    (GRAPH, [*NO_POSITIONS, "True", "-1"], ["string", "Tensor"]),
    (TAPE, [*NO_POSITIONS, "-1"], ["string"]),
    (TORCH, NO_POSITIONS, ["string", "Tensor", *ELSEWHERE]),
):
    agree(82, ARGUMENTS, party, ("positions", positions, "raised"), OWN)
    agree(82, ARGUMENTS, party, ("weights", weight_forms, "raised"), OWN)
agree(82, ARGUMENTS, EVERYWHERE, ("positions", POSITIONS), FORM, (POSITIONS,))
agree(82, ARGUMENTS, STYLES, ("weights", ["ParameterTuple", "list", "tuple"]), FORM, ("weights",))
agree(82, ARGUMENTS, STYLES, ("weights", "Parameter"), FORM, ("weight",))

agree(89, "gradients.functional", EVERYWHERE, (["value", "gradient"],), FORM)
DEFAULTS = "gradients.defaults"
agree(90, DEFAULTS, STYLES, ("grad",), FORM, ("x",))
agree(90, DEFAULTS, STYLES, ("value_and_grad", 0), FORM, ("value",))
agree(90, DEFAULTS, STYLES, ("value_and_grad", 1, 0), FORM, ("w",))

# Loss scaling

STAGES = ["scaled", "unscaled"]
agree(12, "loss-scale.guide_example", EVERYWHERE, (STAGES,), FORM, tolerance=EXACT)
agree(12, "loss-scale.guide_example", STYLES, ("all_finite",), OWN, ("all finite",))
FINITENESS = "loss-scale.finiteness"
agree(13, FINITENESS, STYLES, (), FORM)
CASES = ["finite numbers", "zeros", "inf", "-inf", "nan", "inf in the last of two tensors"]
CASES.append("the greatest float16")
IN_HALF, IN_SINGLE = ([f"{case}, {dtype}" for case in CASES] for dtype in ("float16", "float32"))
agree(13, FINITENESS, TORCH, (IN_HALF, "raised"), TORCH)
agree(13, FINITENESS, TORCH, (IN_SINGLE,), FORM)
agree(13, FINITENESS, TORCH, (IN_SINGLE,), TORCH)
UNDERFLOW = "loss-scale.underflow"
agree(14, UNDERFLOW, STYLES, (), FORM)
DTYPES = ["float16", "bfloat16", "float32"]
IN_FLOAT32 = ["without", "scaled", "unscaled in float32"]
agree(14, UNDERFLOW, TORCH, (DTYPES, IN_FLOAT32), FORM)
unscaled_there: Paths = ("unscaled there", "raised")
agree(14, UNDERFLOW, TORCH, ("float16", *unscaled_there), TORCH, unscaled_there)
agree(15, "loss-scale.life", EVERYWHERE, ("turns",), FORM)
STEP = "loss-scale.overflowed_step"
stepped: Paths = ("optimizer(gradients)", ["stepped", "weight"])
agree(15, STEP, STYLES, stepped, OWN, (["moved", "weight"],))
SCALED_CELLS = [
    "nn.TrainOneStepWithLossScaleCell",
    "amp.build_train_network with DynamicLossScaleManager",
]
agree(15, STEP, STYLES, (SCALED_CELLS, "raised"), OWN, (["cell", "built"], "raised"))
LIMIT = "loss-scale.range"
agree(86, LIMIT, EVERYWHERE, (STAGES, "gradient"), FORM, (STAGES,))
agree(94, LIMIT, EVERYWHERE, ("steep", "value"), FORM, ("loss",), 2e-3)
agree(94, LIMIT, EVERYWHERE, ("steep", "gradient"), FORM, ("gradient",))
agree(94, LIMIT, EVERYWHERE, ("steep", "value_is_finite"), FORM, ("loss is finite",))
shares: Paths = (["underflow", "overflow"],)
agree("loss-scale", "loss-scale.sweep", EVERYWHERE, ("float16", *shares), FORM, shares)

# Training

CLIPPING = "training.clipping"
NORMS, CLIPPED_TO = ["1.0", "5.0", "20.0"], ["to 1.0", "to 5.0", "to 20.0"]
agree(16, CLIPPING, MINDSPORE, ("by norm", NORMS), FORM, (CLIPPED_TO,))
agree(16, CLIPPING, TORCH, ("by norm", NORMS, "gradients"), FORM, (CLIPPED_TO,))
agree(16, CLIPPING, TORCH, ("by norm", "1.0", "returned"), FORM, ("norm",))
agree(16, CLIPPING, MINDSPORE, (["by default", "default"],), TAPE)
PARTIAL = ["whole", "added", "divided"]
summed: Paths = (["mean", "sum"], PARTIAL)
agree(17, "training.accumulation", FRAMEWORKS, summed, TORCH, tolerance=SUMS)
normed: Paths = ("mean", PARTIAL)
NORMED = "training.accumulation_batch_norm"
agree(17, NORMED, FRAMEWORKS, normed, TORCH, ("batch norm", PARTIAL), SUMS)

LOSSES = ["losses", "states"]
AFTER_EACH = ["losses", "after each"]
for row, route, parties in (
    (19, "training.functional", STYLES),
    (19, "training.loop", (TORCH,)),
    (20, "training.jit", (TAPE,)),
):
    agree(row, route, parties, (LOSSES,), TORCH, (AFTER_EACH,), SUMS)
for route in ("training.model", "training.step_cell"):
    agree(52, route, STYLES, ("states",), TORCH, ("after each",), SUMS)
GUIDE_STEP = "training.guide_step"
agree(52, GUIDE_STEP, STYLES, ("as meant", "states"), TORCH, ("after each",), SUMS)
again: Paths = (["as printed", "set_grad()"], "states")
agree(52, GUIDE_STEP, STYLES, again, TORCH, ("two forwards",), SUMS)

STEP_GRAPHS = "training.graphs"
PHASES = ["forward", "backward", "update"]
for index in (0, 1):
    agree(21, STEP_GRAPHS, MINDSPORE, ("graph", index, PHASES), GRAPH, ("by itself", index, PHASES))
agree(21, STEP_GRAPHS, MINDSPORE, ("tape", 0, PHASES), TAPE, ("by itself", 0, PHASES))
agree(21, STEP_GRAPHS, MINDSPORE, ("ms.jit", 0, PHASES), TAPE, ("under ms.jit", 0, PHASES))
leave_out(21, STEP_GRAPHS, (EVERY, EVERY, "plumbing"), "builds tuples and orders effects")

STATEFUL = "training.stateful"
BY_ITSELF_AND_JITTED = ["by itself", "ms.jit"]
KEPT = ["losses", "weight", "moments", "steps counted"]
agree(83, STATEFUL, STYLES, (BY_ITSELF_AND_JITTED, KEPT), FORM, (KEPT,))
COUNTED = "counts what this project's own recording sees; the other engines' counts are compared"
leave_out(83, STATEFUL, (EVERY, "dispatched"), COUNTED)

# Tape and graph

BOTH = "tape-life.extra_output"
agree(18, BOTH, STYLES, ("every output",), FORM, ("loss and z",))
ALONE = ["has_aux", "extra output stopped", "first output alone"]
agree(18, BOTH, STYLES, (ALONE,), FORM, ("loss",))
REUSED = "tape-life.reused"
agree(22, REUSED, STYLES, (["gradients", "inputs"],), FORM)

LIFETIME, FORWARD = "tape-life.lifetime", "tape-life.forward_alone"
SIZES = ["tensors", "bytes", "of inputs and parameters"]
agree(23, LIFETIME, TORCH_TAPE, ("nodes",), TORCH)
agree(23, LIFETIME, TORCH_TAPE, ("steps", 4, ["op", *SIZES]), TORCH, (["op", *SIZES],))
agree(23, LIFETIME, TAPE, ("steps", 6, ["op", *SIZES]), TAPE, (["op", *SIZES],))
agree(70, LIFETIME, GRAPH, ("steps", 4, SIZES), FORM, (SIZES,))
agree("tape-life", LIFETIME, TORCH_TAPE, ("steps", 8, SIZES), TORCH, (SIZES,))
agree("tape-life", LIFETIME, TORCH_TAPE, ("nodes",), TORCH)
MOMENTS = ["by itself", "inside a gradient", "inside a gradient, under _no_grad"]
OUR_MOMENTS = ["by itself", "inside", "under _no_grad"]
agree(24, FORWARD, TAPE, (MOMENTS, "saved"), TAPE, (OUR_MOMENTS,))
agree(24, FORWARD, TAPE, (MOMENTS, "nodes"), TAPE, ("nodes", OUR_MOMENTS))
agree(24, FORWARD, GRAPH, (MOMENTS[2], "raised"), GRAPH, ("switched", "raised"))
agree(24, FORWARD, STYLES, ("mindspore.no_grad",), OWN, ("no_grad",))
agree(24, FORWARD, STYLES, ("mindspore._no_grad",), OWN, ("_no_grad",))
agree(24, "tape-life.switches", TORCH_TAPE, ("plain", ["saved", "nodes"]), TORCH)
agree(24, "tape-life.switches", TORCH_TAPE, ("no_grad", "saved"), TORCH)
UNSEEN = "None: nothing can be asked of a compiled graph, and the page says so"
for row in (23, 24):
    leave_out(row, f"{FORWARD}.{GRAPH}", (MOMENTS[:2], ["saved", "nodes"]), UNSEEN)

AGAIN = "tape-life.second_backward"
agree(25, AGAIN, TORCH_TAPE, ("plain", "second", "raised"), TORCH, ("raised",))
retained: Paths = ("retain_graph", [".grad", "second"])
agree(25, AGAIN, TORCH_TAPE, retained, TORCH, (["retained", "second"],))
agree(30, "tape-life.called_again", STYLES, ("gradients",), FORM, ("each of three",))
zeroed: Paths = ([".grad after each backward", "zero_grad(set_to_none=False)", "zero_grad()"],)
left: Paths = (["after", "zeroed", "by default"],)
agree(30, "tape-life.accumulation", TORCH_TAPE, zeroed, TORCH, left)
LEAVES = ["leaf.grad", "x is a leaf", "x.grad as printed", "is a Tensor", "type", "warned"]
VARIABLE = "torch.autograd.Variable exists"
agree(29, "tape-life.variable", TORCH_TAPE, ([*LEAVES, VARIABLE],), TORCH)
ANSWERS = "tape-life.answers"
for name in ("a", "b"):
    answered: Paths = (f"by {name}", f"d{name}")
    agree(31, ANSWERS, STYLES, answered, OWN, (name,))
    agree(31, ANSWERS, TORCH_TAPE, answered, TORCH, ("tape",))
    agree(31, ANSWERS, TORCH_GRAPH, answered, TORCH, ("function",))

# Higher orders, and what the compiler makes of a program

NESTED, BY_SHAPE = "higher-order.nodes.wave", "higher-order.operators, by shape"
for order in ("1", "2", "3", "4"):
    grown: Paths = (f"operators {order}",)
    agree(26, NESTED, ENGINES, ("values", order, "elements"), FORM, (f"order {order}",))
    agree(26, NESTED, TORCH_TAPE, ("by order", order, "tape"), TORCH, grown)
    agree(26, NESTED, GRAPH, ("by order", order, "validate"), GRAPH, grown)
leave_out(26, f"{NESTED}.{TAPE}", ("by order", EVERY, "tape"), COUNTED)
leave_out(26, f"{NESTED}.{TORCH_GRAPH}", ("by order", EVERY, "joint"), COUNTED)
SHAPED, OUR_SHAPED = (
    ["cube_of_sum", "cube_of_mean", "norm"],
    ["cube of sum", "cube of mean", "norm"],
)
agree(26, BY_SHAPE, (GRAPH, TORCH_TAPE), (SHAPED, "second"), FORM, (OUR_SHAPED,))
agree(26, BY_SHAPE, TAPE, (SHAPED, "second"), TAPE, (OUR_SHAPED,))
joined: Paths = (["concatenation", "broadcast"],)
in_reverse = (GRAPH, TORCH_TAPE, TORCH_FUNC)
agree("higher-order", BY_SHAPE, in_reverse, (*joined, "second"), FORM, joined)
# Which wrong numbers the tape gives for a broadcast depends on how it is written.
concatenated: Paths = ("concatenation",)
agree("higher-order", BY_SHAPE, TAPE, (*concatenated, "second"), TAPE, concatenated)

SMALL = "higher-order.small_hessians"
TWICE_BY_GRAD, BY_JACFWD = "grad of grad", "jacfwd of grad"
FULL = (GRAPH, TORCH_FUNC)
summed_twice: Paths = (["cube_of_sum", "broadcast"], TWICE_BY_GRAD)
of_sums: Paths = (["cube of sum", "broadcast"],)
agree(84, SMALL, FULL, summed_twice, FORM, of_sums)
agree(84, SMALL, STYLES, summed_twice, OWN, of_sums)
PRODUCTS = ["product_with_vector", "product_with_column"]
agree(84, SMALL, FULL, (PRODUCTS, TWICE_BY_GRAD), FORM, ("product",))
agree(84, SMALL, STYLES, (PRODUCTS, TWICE_BY_GRAD), OWN, (["vector", "column"],))
agree(84, SMALL, TORCH_FUNC, (PRODUCTS, BY_JACFWD), FORM, ("Hessian",))
hessians: Paths = (["Hessian, vector", "Hessian, column"],)
agree(84, SMALL, STYLES, (PRODUCTS, BY_JACFWD), OWN, hessians)
agree(84, SMALL, STYLES, ("product_with_column", BY_JACFWD), FORM, ("Hessian",))

BRANCH = "stages.branch"
SIGNS, OUR_SIGNS = ["inputs times 1", "inputs times -1"], ["positive", "negative"]
agree(27, BRANCH, GRAPH, (SIGNS, "gradient", 0), FORM, (OUR_SIGNS, 0))
agree(27, BRANCH, GRAPH, (SIGNS, "gradient", 1, 0), FORM, (OUR_SIGNS, 1))
agree(27, BRANCH, GRAPH, (SIGNS, "gradient", 1, 1, 0), FORM, (OUR_SIGNS, 2))
agree(27, BRANCH, (TAPE, TORCH), (SIGNS, "tape"), OWN, (OUR_SIGNS,))
for question in (BRANCH, "stages.other_values"):
    agree(27, question, GRAPH, (SIGNS, "compiled again"), GRAPH, ("compiled again",))
several = "of several graphs of one program"
leave_out(27, f"{BRANCH}.{GRAPH}", ("inputs times 1", [*PHASES, "graphs"]), several)
PASSES, STEP_PASSES = "stages.gradient_passes", "stages.training_passes"
agree(28, PASSES, GRAPH, ("passes", -1, PHASES), GRAPH, (PHASES,))
agree(28, STEP_PASSES, GRAPH, ("passes", -1, PHASES), GRAPH, ("step", PHASES))
agree(28, STEP_PASSES, GRAPH, ("kernels",), GRAPH, ("step", "all"))
leave_out(28, PASSES, ("passes", EVERY), "of passes before the last, by their sum")

KINKS = "operators.gradients_at_kinks"
CORNERS = ["relu6", "leaky_relu", "hardtanh", "hardswish"]
RELUS = ["relu", "relu_by_maximum", "relu_by_clamp", "relu_by_where"]
STEEP = [
    "power_zero",
    "power_of_zero",
    "norm",
    "std",
    "atan2",
    "xlogy",
    "cosine_similarity",
    "self_division",
]
for group, names in {
    "corners": [*CORNERS, *RELUS],
    "ties": ["norm_inf"],
    "steep": STEEP,
    "dead": ["relu_of_nan", "clamp_of_nan", "max_with_nan"],
}.items():
    agree(85, f"{KINKS}.{group}", ENGINES, (names, "found"), OWN, (names,))
TIES, DEAD = f"{KINKS}.ties", f"{KINKS}.dead"
agree(85, TIES, STYLES, ("cummax", "found", "raised"), OWN, ("cummax", "raised"))
agree(85, TIES, IN_TORCH, ("cummax", "found"), TORCH, ("cummax",))
agree(85, DEAD, STYLES, ("branch", "found"), OWN, ("branch",))
agree(85, DEAD, TORCH_TAPE, ("branch", "found", "raised"), TORCH, ("branch", "raised"))

# Networks and devices

STARTING = "networks.starting_mode"
parts_in_training: Paths = (["training", "own", "dropout"],)
agree(32, STARTING, FRAMEWORKS, (["layer", "own", "dropout"],), OWN, parts_in_training)
MODES = "networks.modes"
agree(33, MODES, FRAMEWORKS, ("training", ["norm", "running_mean", "dropout_values"]), FORM)
agree(33, MODES, FRAMEWORKS, ("inference", ["norm", "running_mean", "dropout_zeros"]), FORM)
DRAWN = "drawn at random: how many or which differs from run to run"
leave_out(33, MODES, ("training", "dropout_zeros"), DRAWN)
agree(34, "networks.containers", FRAMEWORKS, (), OWN)
PARTS = "networks.parts"
agree(35, PARTS, MINDSPORE, (["missing", "cells_and_names", "get_parameters"],), TAPE)
agree(35, PARTS, MINDSPORE, ("after_insert_child_to_cell",), TAPE, ("with another",))
agree(35, PARTS, TORCH, (["named_children", "parameters"],), TORCH)
agree(35, PARTS, TORCH, ("after_add_module",), TORCH, ("with another",))
KINDS = "networks.kinds_of_data"
agree(36, KINDS, FRAMEWORKS, (["buffers", "kinds"],), OWN)
agree(36, KINDS, TORCH, ("Variable_is",), TORCH, ("Variable",))
agree(36, KINDS, TORCH, ("has_gradient",), TORCH, ("has a gradient",))
agree(36, KINDS, MINDSPORE, ("trainable_after_requires_grad_False",), TAPE, ("trainable",))
agree(36, KINDS, MINDSPORE, ("tensor_has",), TAPE, ("of a tensor",))
MOVES = "devices.moves"
WAYS_TO_MOVE = ["Tensor.to", "Tensor.move_to", "Cell.to"]
agree(37, MOVES, FRAMEWORKS, ("tensor_api",), OWN, ("tensor",))
agree(37, MOVES, MINDSPORE, ("moved", "CPU", WAYS_TO_MOVE), TAPE, ("CPU", WAYS_TO_MOVE))
elsewhere: Paths = (["Ascend", "GPU"], WAYS_TO_MOVE, "raised")
agree(37, MOVES, MINDSPORE, ("moved", *elsewhere), TAPE, elsewhere)
agree(37, MOVES, MINDSPORE, ("set_device_again", "raised"), TAPE, ("set again", "raised"))
agree(38, "devices.host", TORCH, ("result_with_tape",), TORCH, ())
agree(38, "devices.host", MINDSPORE, ("gradient",), TAPE)

SLICES = "networks.slices"
PART = ["value", "gradient"]
REFUSED_IN_GRAPH = {"reshape_by_tensor", "loop_to_tensor"}
for function in (
    "by_tensor",
    "slice_by_tensor",
    "by_mask",
    "write_by_tensor",
    "write_by_mask",
    "list_by_tensor",
    "reshape_by_tensor",
    "while_below_tensor",
    "loop_to_tensor",
):
    end = RAISED if function in REFUSED_IN_GRAPH else ()
    agree(39, SLICES, MINDSPORE, (f"{function}.graph", PART, *end), GRAPH, (function, PART, *end))
    agree(39, SLICES, MINDSPORE, (f"{function}.tape", PART), TAPE, (function, PART))
COMPILATIONS = "networks.compilations"
compiled: Paths = (["fixed", "dynamic", "gradient", "gradient_in_a_cell"],)
agree(39, COMPILATIONS, MINDSPORE, compiled, TAPE, ("compilations", *compiled))
leave_out(39, COMPILATIONS, ("lengths",), "the number of lengths that the question gives")

CONTEXT = "devices.context"
agree(73, CONTEXT, MINDSPORE, ("warnings",), TAPE, tolerance=EXACT)
agree(73, CONTEXT, MINDSPORE, ("as meant",), TAPE, ("CPU",))
agree(73, CONTEXT, MINDSPORE, ("as printed", "raised"), TAPE, ("Ascend", "raised"))
CONTAINERS = "networks.parameters"
TUPLES = ["list", "tuple", "ParameterTuple"]
agree(74, CONTAINERS, MINDSPORE, (TUPLES, "registered"), TAPE, (TUPLES,))
agree(74, CONTAINERS, MINDSPORE, (TUPLES, "value"), FORM, ("value",))
agree(74, CONTAINERS, TORCH, (["list", "tuple"], "registered"), TORCH, (["list", "tuple"],))
agree(74, CONTAINERS, TORCH, (["list", "tuple", "ParameterList"], "value"), FORM, ("value",))
for framework, container in {MINDSPORE: "ParameterTuple", TORCH: "ParameterList"}.items():
    agree(74, CONTAINERS, framework, (container, "gradients"), FORM, ("gradients",))
agree(76, "networks.amp_level", STYLES, (["O0", "O2", "O3"],), OWN)
BATCHES = "networks.batches"
WAYS_TO_BATCH = ["one by one", "by default", "keeping the rest", "again"]
agree(78, BATCHES, EVERYWHERE, (WAYS_TO_BATCH,), FORM, ("all",))
agree(78, BATCHES, EVERYWHERE, ("dropping the rest",), FORM, ("whole batches",))
WRITING = "devices.outputs"
written: Paths = (["element written", "array written"],)
agree(79, WRITING, STYLES, written, OWN, (["written", "by its array"],))
agree(79, WRITING, STYLES, ("element written",), FORM, ("written",))
agree(79, WRITING, TORCH, ("cpu", "element written"), TORCH, ("written",))
agree(79, WRITING, TORCH, ("cpu", "array written", "raised"), TORCH, ("array", "raised"))
detached: Paths = ("cpu", "array of the detached written")
agree(79, WRITING, TORCH, detached, TORCH, ("array of the detached",))
agree(79, WRITING, TORCH, detached, FORM, ("written",))
NOT_TRAINED = "networks.not_trained"
agree(88, NOT_TRAINED, STYLES, ("after", ["tensor", "buffer", "parameter"]), OWN)
agree(88, NOT_TRAINED, STYLES, ("saved",), OWN)
agree(88, NOT_TRAINED, TAPE, ("changed",), TAPE)
LINES = "networks.listings"
MISPRINTED = [
    "nn.Conv2d(1, 3)",
    "nn.BatchNorm(3)",
    "value_and_grad(forward_fn), defined as forword_fn",
]
RUN_AS_PRINTED = [*MISPRINTED[:2], "ms.value_and_grad(forward_fn)"]
agree(92, LINES, MINDSPORE, ("as printed", MISPRINTED, "raised"), TAPE, (RUN_AS_PRINTED, "raised"))
AS_MEANT = ["nn.Conv2d(1, 3, 3)", "nn.BatchNorm2d(3)", "value_and_grad(forward_fn)"]
RUN_AS_MEANT = [*AS_MEANT[:2], "ms.value_and_grad(forward)"]
agree(92, LINES, MINDSPORE, ("as meant", AS_MEANT), TAPE, (RUN_AS_MEANT,))
variables: Paths = (["CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"],)
agree(92, LINES, TORCH, (["as printed", "as meant"],), TORCH, variables)
agree("devices", "devices.sees", FRAMEWORKS, ("available",), OWN, ())
HERE = "names the device of the machine"
for row, question, names_of_devices in (
    (37, MOVES, ["target"]),
    (73, CONTEXT, ["here", "kinds"]),
    (79, WRITING, ["target", "device"]),
):
    leave_out(row, question, (names_of_devices,), HERE)

# Operators

for index in (0, 1, 2):
    agree(40, "operators.inference", ENGINES, ("inference", index), FORM, ("output",))
leave_out(40, "operators.inference", ("training",), DRAWN)

DROPOUT = "operators.dropout_settings"
SHARE = ["kept", "survivor"]
kept_of_all: Paths = ("of 0.7", SHARE)
agree(41, DROPOUT, MINDSPORE, (["p=0.3", "keep_prob=0.7"], SHARE), FORM, kept_of_all, SAMPLED)
agree(41, DROPOUT, FRAMEWORKS, ("0.3 alone", SHARE), OWN, ("alone", SHARE), SAMPLED)
agree(41, DROPOUT, KERAS, ("rate=0.3", SHARE), FORM, kept_of_all, SAMPLED)
agree(41, DROPOUT, TORCH, ("p=0.3", "kept"), FORM, ("of 0.7", "kept"), SAMPLED)

STATES = "operators.batch_norm_states"
BY_THE_BATCH = [
    f"use_batch_statistics={it}" for it in ("None, training", "True, training", "True, inference")
]
BY_RUNNING = [
    f"use_batch_statistics={it}"
    for it in ("None, inference", "False, training", "False, inference")
]
TRACKED = [f"track_running_stats=True, {mode}" for mode in ("training", "inference")]
UNTRACKED = [f"track_running_stats=False, {mode}" for mode in ("training", "inference")]
STATE = ["output", "running", "gradients"]
WITHOUT_RUNNING = ["output", "gradients"]
agree(42, STATES, STYLES, (BY_THE_BATCH, STATE), TORCH, ("batch", STATE), SUMS)
agree(42, STATES, STYLES, (BY_RUNNING, STATE), TORCH, ("running", STATE), SUMS)
agree(42, STATES, IN_TORCH, (TRACKED, STATE), TORCH, (["batch", "running"], STATE), SUMS)
agree(42, STATES, IN_TORCH, (UNTRACKED, WITHOUT_RUNNING), TORCH, ("batch", WITHOUT_RUNNING), SUMS)
agree(42, STATES, KERAS, ("trainable=True, training", "output"), TORCH, ("batch", "output"), SUMS)
for index in (0, 1):
    learned: Paths = (UNTRACKED[1], "gradients", index + 1)
    agree(71, STATES, IN_TORCH, learned, FORM, ("gradients", index))
EVALUATED = "operators.evaluated_batch_norm"
moved: Paths = (["after", "output"],)
agree(71, EVALUATED, TORCH, (["evaluation", "training"], *moved), FORM, moved)
agree(71, EVALUATED, TORCH, ("evaluation", "before"), FORM, ("at the start",))
agree(71, EVALUATED, TORCH, ("evaluation", "running mean"), FORM, ("running mean",))

MOMENTUM = "operators.batch_norm_momentum"
for kept in ("0.0", "0.5", "0.9", "0.99", "1.0"):
    agree(43, MOMENTUM, MINDSPORE, (kept,), FORM, (f"keeping {kept}",))
    agree(43, MOMENTUM, TORCH, ("one_minus", kept), FORM, (f"keeping {kept}",))
    agree(43, MOMENTUM, KERAS, (kept, 0), FORM, (f"keeping {kept}", 0))
agree(43, MOMENTUM, FRAMEWORKS, ("default",), FORM, ("keeping 0.9",))
agree(43, MOMENTUM, TORCH, ("same", "0.9"), FORM, ("keeping 0.1",))
agree(43, MOMENTUM, KERAS, ("default", 0), FORM, ("keeping 0.99", 0))

AXES = "operators.axes"
PERMUTED = ["ops.transpose(x, (3, 2, 1, 0))", "x.permute(3, 2, 1, 0)"]
agree(44, AXES, MINDSPORE, (PERMUTED,), FORM, ("reversed",))
agree(44, AXES, TORCH, (PERMUTED[1],), FORM, ("reversed",))
agree(44, AXES, KERAS, (PERMUTED[0], "shape"), FORM, ("reversed", "shape"))
agree(44, AXES, TORCH, ("torch.transpose(x, 0, 3)",), FORM, ("swapped",))
SWAPPED = ["x.transpose(0, 3)", "mint.transpose(x, 0, 3)"]
agree(44, AXES, MINDSPORE, (SWAPPED,), FORM, ("swapped",))

POOLS = "operators.max_pool_of_nine"
ENGINES_AND_KERAS = (*ENGINES, KERAS)
agree(45, POOLS, (*STYLES, KERAS), ("same",), FORM)
agree(45, POOLS, ENGINES_AND_KERAS, ("valid",), FORM)
agree(45, POOLS, ENGINES, ("ceil_mode=True",), FORM, ("same",))
agree(45, POOLS, STYLES, ("negative, same",), FORM, ("negative",))
agree(45, POOLS, ENGINES, ("negative, ceil_mode=True",), FORM, ("negative",))
bottom_right = "zeros bottom and right"
agree(
    45, POOLS, ENGINES_AND_KERAS, (f"negative, {bottom_right}, then valid",), FORM, (bottom_right,)
)
agree(45, POOLS, TORCH_TAPE, ("same", "raised"), TORCH)
agree(45, POOLS, TORCH_GRAPH, ("same", "raised"), TORCH, ("compiled", "raised"))
top_left = "zeros top and left"
agree(46, POOLS, ENGINES_AND_KERAS, (f"{top_left}, then valid",), FORM, (top_left,))
agree(46, "operators.padding_by_hand", STYLES, ("as meant",), FORM, (top_left,))
agree(46, "operators.padding_by_hand", STYLES, ("as printed", "raised"), OWN, ("printed", "raised"))
around: Paths = (["negative, zeros all around, then valid", "negative, padding=1"],)
padded_engines = (*STYLES, TORCH_TAPE)
agree(87, POOLS, padded_engines, around, FORM, (["zeros", "setting"],))
from_0_on: Paths = (["zeros all around, then valid", "padding=1"],)
agree(87, POOLS, padded_engines, from_0_on, FORM, ("zeros, from 0 on",))

SIDES, STRIDED = "operators.convolution_sides", "operators.strided_convolution"
agree(47, SIDES, (MINDSPORE, KERAS), (), FORM, ("same",))
agree(47, f"{SIDES}_of_a_number", FRAMEWORKS, (), FORM, ("padding 1",))
agree(47, STRIDED, MINDSPORE, (["by default", "same"],), FORM, ("strided, same",))
agree(47, STRIDED, FRAMEWORKS, ("padding=1",), FORM, ("strided, padding 1",))
agree(47, STRIDED, TORCH, ("same", "raised"), TORCH)
agree(48, "operators.valid_sizes", LIBRARIES, (), FORM)

INITIAL = "operators.initial_values"
LIMITS = ["minimum", "maximum"]
for row, layer, ours in ((49, "convolution", "conv"), (50, "dense", "dense")):
    weight, in_keras = f"{layer} weight", f"{ours} in Keras"
    agree(row, INITIAL, LIBRARIES, (weight, "bound"), FORM, (ours, "maximum"))
    agree(row, INITIAL, FRAMEWORKS, (weight, "std"), FORM, (ours, "std"), SAMPLED)
    agree(row, INITIAL, KERAS, (weight, "std"), FORM, (in_keras, "std"), SAMPLED)
    drawn: Paths = ([weight, f"{layer} bias"], LIMITS)
    agree(row, INITIAL, FRAMEWORKS, drawn, FORM, (ours, LIMITS), SAMPLED)
    agree(row, INITIAL, KERAS, (weight, LIMITS), FORM, (in_keras, LIMITS), SAMPLED)
    agree(row, INITIAL, KERAS, (f"{layer} bias", "zeros"), FORM, ("share of zeros",))
    agree(row, INITIAL, FRAMEWORKS, ("has_bias", layer), OWN, (ours,))
    leave_out(row, f"{INITIAL}.keras", ("has_bias", layer), "is read off Keras' signature")

WEIGHTS = "operators.implicit_weights"
SPREAD = [*LIMITS, "std"]
for layer, ours in {"conv": "conv", "dense": "dense", "lstm input": "lstm"}.items():
    agree(72, WEIGHTS, FRAMEWORKS, (f"{layer} weight", SPREAD), FORM, (ours, SPREAD), SAMPLED)
    in_keras = f"{ours} in Keras"
    agree(72, WEIGHTS, KERAS, (f"{layer} weight", SPREAD), FORM, (in_keras, SPREAD), SAMPLED)
agree(72, WEIGHTS, FRAMEWORKS, ("lstm hidden weight", "std"), FORM, ("lstm", "std"), SAMPLED)
agree(72, WEIGHTS, FRAMEWORKS, ("lstm bias", SPREAD), FORM, ("lstm", SPREAD), SAMPLED)
agree(72, WEIGHTS, KERAS, ("lstm bias", SPREAD), FORM, ("lstm bias in Keras", SPREAD))
embedding = "embedding weight"
agree(72, WEIGHTS, MINDSPORE, (embedding, "std"), FORM, ("embedding in MindSpore",), SAMPLED)
agree(72, WEIGHTS, TORCH, (embedding, "std"), FORM, ("embedding in PyTorch",), SAMPLED)
agree(72, WEIGHTS, KERAS, (embedding, SPREAD), FORM, ("embedding in Keras", SPREAD), SAMPLED)
for framework in FRAMEWORKS:
    leave_out(72, f"{WEIGHTS}.{framework}", (embedding, LIMITS), DRAWN)
for part in ("scale", "shift"):
    norms = [f"{norm} {part}" for norm in ("batch norm", "layer norm", "group norm")]
    agree(72, WEIGHTS, LIBRARIES, (norms,), FORM, (part,))

GRADIENTS = "operators.operator_gradients"
OPERATORS = [
    "transpose",
    "batch norm, training",
    "batch norm, inference",
    "max pool, same",
    "max pool, valid",
    "average pool, valid",
    "convolution, same",
    "convolution, valid",
    "dense",
    "cross entropy, classes",
    "cross entropy, one-hot",
    "layer norm",
    "gelu, exact",
    "gelu, tanh",
    "dropout, p = 0",
    "dropout, inference",
]
WITHOUT_SECOND: dict[str, tuple[str, ...]] = {
    "max pool, same": STYLES,
    "max pool, valid": STYLES,
    "average pool, valid": STYLES,
    "gelu, tanh": STYLES,
    "layer norm": (TAPE,),
    "cross entropy, classes": STYLES,
}
"""Operators that MindSpore cannot differentiate twice, and in which styles."""

OF_A_CONSTANT = [
    "batch norm, training",
    "layer norm",
    "cross entropy, classes",
    "cross entropy, one-hot",
]
"""What changes nothing when all its inputs grow alike: the sum of its gradient is 0."""

agree(51, GRADIENTS, ENGINES, (OPERATORS, "first"), TORCH, tolerance=SUMS)
for operator in OPERATORS:
    refusing_styles = WITHOUT_SECOND.get(operator, ())
    agree(51, GRADIENTS, refusing_styles, (operator, "second", "raised"), OWN, (operator, "raised"))
    if operator not in OF_A_CONSTANT:
        others = tuple(party for party in ENGINES if party not in refusing_styles)
        agree(51, GRADIENTS, others, (operator, "second"), TORCH, tolerance=SUMS)
rounding = "0: what is recorded is what rounding leaves of it"
leave_out(51, GRADIENTS, (OF_A_CONSTANT, "second"), rounding)
leave_out(51, "operators.dropout_mask", (["output", "gradient"],), DRAWN)

# Optimizers and schedules

LISTED = "training.filtered"
agree(53, LISTED, FRAMEWORKS, (["type", "chosen", "moved"],), OWN)
agree(53, LISTED, MINDSPORE, ("get_parameters",), TAPE)
agree(54, "schedules.piecewise", MINDSPORE, ("rates",), FORM)
agree(54, "schedules.piecewise", MINDSPORE, ("type",), TAPE)
USED = "schedules.used"
USED_RATES = ["nn.SGD with a list", "nn.SGD with a Cell", "experimental SGD, stepped by hand"]
agree(55, USED, MINDSPORE, (USED_RATES,), FORM, ("used",))
agree(55, USED, TORCH, ("SGD, stepped by hand", ["used", "said"]), FORM, (["used", "said"],))
agree(55, USED, TORCH, ("SGD, never stepped", "used"), FORM, ("never stepped",))
agree(55, USED, MINDSPORE, ("experimental SGD, never stepped",), FORM, ("never stepped",))
DECAYS = ["exponential", "natural exponential", "inverse", "polynomial"]
for question in ("schedules.lists", "schedules.cells"):
    agree(56, question, MINDSPORE, ([*DECAYS, "cosine"],), FORM)
agree(56, "schedules.by_hand", TORCH, (DECAYS,), FORM)
agree(56, "schedules.by_hand", TORCH, ("cosine",), FORM, ("cosine that turns",))

DECAY = "training.weight_decay"
DENSE_PARTS, NORM_PARTS = ["fc.weight", "fc.bias"], ["norm.gamma", "norm.beta"]
for optimizer, rule in {"SGD": "SGD", "Momentum": "SGD", "Adam": "Adam"}.items():
    agree(57, DECAY, MINDSPORE, (f"nn {optimizer}", "0.1", DENSE_PARTS), FORM, (rule,))
    agree(57, DECAY, MINDSPORE, (f"nn {optimizer}", "0.1", NORM_PARTS), FORM, ("none",))
for optimizer in ("SGD", "Adam", "AdamW"):
    decayed: Paths = (f"torch {optimizer}", "0.1", ["fc.weight", "norm.gamma"])
    agree(57, DECAY, TORCH, decayed, FORM, (optimizer,))
agree(57, DECAY, TORCH, ("torch AdamW", "default", "fc.bias"), FORM, ("AdamW by default",))
SPARING = [f"nn {name}" for name in ("SGD", "Momentum", "Adam")]
SPARING += [f"experimental {name}" for name in ("SGD", "Adam")]
agree(57, DECAY, MINDSPORE, (SPARING, "default", EVERY), FORM, ("none of four",))
agree(57, DECAY, TORCH, (["torch SGD", "torch Adam"], "default", EVERY), FORM, ("none of four",))
GROUPS = "training.groups"
SETTINGS = ["lr", "weight_decay", "momentum"]
agree(58, GROUPS, TORCH, ("torch", SETTINGS), FORM, (SETTINGS,))
agree(58, GROUPS, MINDSPORE, ("experimental", SETTINGS), FORM, (SETTINGS,))
# nn refuses a momentum.
agree(58, GROUPS, MINDSPORE, ("nn", SETTINGS[:2]), FORM, (SETTINGS[:2],))
centralized: Paths = ("nn", "grad_centralization, rows of 16", "raised")
agree(58, GROUPS, MINDSPORE, centralized, TAPE, ("centralized", "raised"))
SAYS = "training.told"
agree(59, SAYS, TORCH, ("torch", "has"), TORCH, ("has",))
agree(59, SAYS, TORCH, ("scheduler.get_last_lr",), TORCH, ("get_last_lr",))
agree(59, SAYS, TORCH, ("torch", "load_state_dict"), TORCH, ("loads",))
agree(59, SAYS, MINDSPORE, ("nn", ["has", "get_lr"]), TAPE, (["has", "get_lr"],))
agree(59, SAYS, MINDSPORE, ("nn", "state_dict"), TAPE, ("names",))
agree(59, SAYS, MINDSPORE, ("experimental", "has", "state_dict"), TAPE, ("experimental has",))
loaded: Paths = (["nn", "experimental"], "load_state_dict", "raised")
agree(59, SAYS, MINDSPORE, loaded, TAPE, ("loads", ["nn", "experimental"], "raised"))
BY_MOMENTUM = "training.momentum"
TRAINED_STYLES = ["graph", "tape"]
RIGHT = ["nn.Momentum", "small operators, as meant", "ApplyMomentum, as meant"]
agree(60, BY_MOMENTUM, MINDSPORE, (TRAINED_STYLES, RIGHT), FORM, ("as meant",))
printed: Paths = (TRAINED_STYLES, "small operators, as printed")
agree(60, BY_MOMENTUM, MINDSPORE, printed, FORM, ("as printed",))
for style, finder in {"graph": GRAPH, "tape": TAPE}.items():
    fused: Paths = (style, "ApplyMomentum, as printed", "raised")
    agree(60, BY_MOMENTUM, MINDSPORE, fused, finder, ("fused", "raised"))
    scaled_step = "training.scaled_step"
    agree(60, scaled_step, MINDSPORE, (style, "raised"), finder, ("scaled", "raised"))

EXPORTED, UPDATES = "training.optimizers", "training.unmatched"
agree(62, EXPORTED, MINDSPORE, (["nn", "experimental"],), TAPE)
agree(62, "training.minimized", MINDSPORE, ("LBFGS",), TAPE, ("minimum",), SUMS)
agree(62, UPDATES, (NN, EXPERIMENTAL, TORCH), ("ASGD",), FORM, tolerance=SUMS)
for scheduler, family in {
    "StepLR": "exponential in stairs",
    "MultiStepLR": "piecewise constant",
    "CosineAnnealingWarmRestarts": "cosine with restarts",
    "CyclicLR": "cyclic",
    "ReduceLROnPlateau": "on a plateau",
    "LambdaLR": "inverse",
    "MultiplicativeLR": "multiplied",
}.items():
    agree(63, "schedules.unmatched", FRAMEWORKS, (family,), FORM, (scheduler,))
agree(63, "schedules.unmatched", TORCH, ("one cycle",), FORM, ("OneCycleLR",))
agree(63, "schedules.names", MINDSPORE, ("hand", NAMES), TAPE, ("names",))
agree(63, "schedules.names", TORCH, ("torch", NAMES), TORCH, ("names",))
agree(63, "schedules.lists", MINDSPORE, ("piecewise constant",), FORM, ("in lists",))
agree(64, UPDATES, NN, (["ProximalAdagrad", "AdamOffload", "FTRL"],), FORM)
agree(64, EXPORTED, TORCH, ("torch",), TORCH, ("names",))
counterparts: Paths = (["Adagrad", "Adam"],)
agree(64, UPDATES, TORCH, counterparts, FORM, (["ProximalAdagrad", "AdamOffload"],))
agree(64, UPDATES, NN, ("Lamb", "raised"), TAPE)
agree(64, "training.thor", MINDSPORE, ("step", "raised"), TAPE, ("thor", "raised"))
agree(64, "training.looked_up", MINDSPORE, ("ProximalAadagrad", "raised"), TAPE)

RATES = "schedules.group_rates"
agree(65, RATES, MINDSPORE, ("get_lr", ["list", "Cell"]), FORM, ("of the first",))
agree(65, RATES, TORCH, ("get_last_lr",), FORM, ("of all",))
RATE_KINDS = ["number", "list", "Cell"]
kind_of_rate: Paths = ("get_lr_parameter", RATE_KINDS, 0, "kind")
agree(65, RATES, MINDSPORE, kind_of_rate, TAPE, ("kinds", RATE_KINDS, "kind"))
shape_of_list: Paths = ("get_lr_parameter", "list", 0, "shape")
agree(65, RATES, MINDSPORE, shape_of_list, TAPE, ("kinds", "list", "shape"))
agree(65, RATES, MINDSPORE, ("param_groups", "nn", "raised"), TAPE, ("param_groups", "raised"))
agree(65, RATES, MINDSPORE, ("param_groups", "experimental"), TAPE, ("experimental",))
SCALED = "training.loss_scale"
agree(66, SCALED, NN, (["scaled", "whole", "divided by hand", "scaled, decayed"],), FORM)
agree(66, SCALED, NN, ("divided by hand, decayed",), FORM, ("scaled, decayed",))
agree(66, SCALED, (EXPERIMENTAL, TORCH), ("scaled", "raised"), OWN, ("named", "raised"))
as_the_guide = "the guide's statements, which the measurement runs as they are"
for party in (NN, TORCH):
    leave_out(66, f"{SCALED}.{party}", ("as printed",), as_the_guide)
PARAM_GROUPS = "training.param_groups"
given: Paths = ("groups", EVERY, ["lr", "momentum"])
agree(67, PARAM_GROUPS, (EXPERIMENTAL, TORCH), given, FORM, (["lr", "momentum"],))
agree(67, PARAM_GROUPS, (EXPERIMENTAL, TORCH), ("groups", 1, NAMES), OWN, ("settings",))
agree(67, PARAM_GROUPS, NN, ("groups", "raised"), TAPE, ("nn", "raised"))
agree(68, "training.listed_filters", FRAMEWORKS, (["as printed", "as meant"],), OWN)
SHAPES = "training.listed_shapes"
for framework, way, shapes in (
    (MINDSPORE, "padded as in PyTorch", ["same", "valid"]),
    (TORCH, "padded as in MindSpore", ["valid", "same"]),
):
    agree(69, SHAPES, framework, (["as printed", way],), FORM, (shapes,))
for party, label in ((MINDSPORE, "PyTorch"), (TORCH, "MindSpore")):
    mislabelled: Paths = (f"with {label}'s label", "raised")
    agree(69, SHAPES, party, mislabelled, OWN, ("other label", "raised"))
BY_GROUPS = "training.takes_groups"
for framework, refused in {TORCH: "LBFGS", MINDSPORE: "FTRL"}.items():
    agree(93, BY_GROUPS, framework, (refused, "raised"), OWN)
    agree(93, BY_GROUPS, framework, ("SGD",), OWN)

RULES = ["SGD", "SGD with momentum", "Nesterov momentum", "Adam", "Adagrad"]
UPDATED = "training.updates"
agree("training", UPDATED, (NN, EXPERIMENTAL, TORCH), (RULES,), FORM, tolerance=SUMS)
apart: Paths = (["AdamW", "RMSprop"],)
agree("training", UPDATED, (EXPERIMENTAL, TORCH), apart, FORM, tolerance=SUMS)
agree("training", UPDATED, NN, apart, FORM, (["AdamWeightDecay", "RMSProp from ones"],), SUMS)

# Two processes

RANKS = "data-parallel.two_processes"
agree(61, RANKS, FRAMEWORKS, ("ranks", EVERY, "local"), FORM, ("local",))
for rank in (0, 1):
    reduced: Paths = ("ranks", rank, ["mean", "sum", "after_step"])
    agree(61, RANKS, FRAMEWORKS, reduced, FORM, (["mean", "sum", "after a step"],))
    routes: Paths = ("ranks", rank, "routes", TRAINED_STYLES)
    BY_HAND, BY_CELLS = ["value_and_grad", "GradOperation"], ["TrainOneStepCell", "Model.train"]
    agree(61, RANKS, MINDSPORE, (*routes, BY_HAND), FORM, ("local", rank))
    agree(61, RANKS, MINDSPORE, (*routes, BY_CELLS), FORM, ("mean",))
reducer = "value_and_grad and DistributedGradReducer"
on_each: Paths = ("ranks", EVERY, "routes", TRAINED_STYLES, reducer)
agree(61, RANKS, MINDSPORE, on_each, FORM, ("mean on each",))
leave_out(61, f"{RANKS}.torch", ("ranks", EVERY, "after_step_own_seed"), DRAWN)
leave_out(61, f"{RANKS}.torch", ("ranks", EVERY, "printed"), "needs an accelerator")

# Conventions

for asked_for, by_formula, givers in (
    ("default_position", "by x", (*STYLES, TORCH_FUNC)),
    ("two_outputs", "loss and logits", STYLES),
    ("aliased_input", "one of two uses", (GRAPH, TORCH_FUNC)),
    ("aliased_input", "both uses", (TAPE, TORCH_TAPE)),
    ("second_order", "second derivative", (*STYLES, TORCH_FUNC)),
    ("complex_input", "by z", (TORCH_TAPE, TORCH_FUNC)),
):
    agree("conventions", "conventions.calls", givers, (asked_for,), FORM, (by_formula,))
VALUES = "conventions.values"
agree("conventions", VALUES, FRAMEWORKS, ("gelu",), FORM)
agree("conventions", VALUES, TORCH, ("std_of_four",), FORM, ("std by n - 1",))
agree("conventions", VALUES, MINDSPORE, ("std_of_four",), FORM, ("std by n",))
of_layers: Paths = (["layer_norm_epsilon", "dropout_of_0_3"],)
read_from: Paths = (["layer norm", "dropout"],)
agree("conventions", "conventions.layers", FRAMEWORKS, of_layers, OWN, read_from, SAMPLED)
second_step: Paths = ("momentum_second_step",)
agree("conventions", "conventions.optimizers", FRAMEWORKS, second_step, FORM, ("momentum",), SUMS)

leave_out(77, "operators.ascend_operators", (["target", "dtypes", "strides"],), WITHOUT_PROGRAM[77])
