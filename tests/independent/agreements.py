"""The figures of the explorer's records that the independent programs find too."""

from typing import NamedTuple

Path = tuple[str | int, ...]
"""The way to a figure through nested dicts and lists.

EVERY stands for each element of a list or dict, NAMES at the end for the sorted keys of a dict.
"""

EVERY, NAMES = "*", "names of"

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


def leave_out(subject: int, measurement: str, path: Path, why: str) -> None:
    """Enter figures of a claim that its evidence shows and no program finds, with the reason."""
    LEFT_OUT.append(LeftOut(subject, measurement, path, why))


def agree(
    subject: int | str,
    question: str,
    parties: tuple[str, ...],
    path: Path,
    finder: str,
    figure: Path,
    tolerance: float = NEAR,
) -> None:
    """Enter a figure of every party's answer to a question.

    ``finder`` "same" is the party itself: its own answer to the same question.
    """
    for party in parties:
        by = party if finder == "same" else finder
        AGREEMENTS.append(Agreement(subject, f"{question}.{party}", path, by, figure, tolerance))


place: Path
"""The way to a figure, where it is the same in the record and in what a program finds."""

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
    agree(row, call, (*STYLES, "torch-tape"), ("values",), FORM, (str(row), "values"))
    for part in ("values", "structure"):
        agree(row, call, STYLES, (part,), "same", (str(row), part))
    agree(row, call, ("torch-tape",), ("structure",), GRAPH, (str(row), "structure"))

OF_THE_SUM = "gradients.grad(loss + logits, grad_position=0, weights=None, has_aux=False)"
agree(8, CALLS[7], STYLES, ("values",), "same", ("both",))
agree(8, OF_THE_SUM, STYLES, ("values",), "same", ("sum",))
agree(8, CALLS[7], ("torch-tape",), ("values",), TORCH, ("both",))
agree(8, OF_THE_SUM, ("torch-tape",), ("values",), TORCH, ("sum",))

NEITHER = NET.format("None", None, False)
for part in ("raised", "message"):
    agree(9, NEITHER, STYLES, (part,), "same", (part,))
    agree(9, NEITHER, ("torch-tape",), (part,), TORCH, (part,))

WITH_VALUE = {
    "0": ("0", None, True),
    "1": ("1", None, True),
    "(0, 1)": ("(0, 1)", None, True),
    "weights": ("None", "all", True),
    "0, weights": ("0", "all", True),
    "(0, 1), weights": ("(0, 1)", "all", True),
    "0, every output": ("0", None, False),
}
for name, settings in WITH_VALUE.items():
    call = NET.replace(".grad(", ".value_and_grad(").format(*settings)
    agree(10, call, STYLES, ("values",), FORM, (name, "values"))
    if name in {"(0, 1), weights", "0, every output"}:
        agree(10, call, STYLES, ("structure",), "same", (name, "structure"))

OLDER = {
    "first": "(get_all=False, get_by_list=False, sens_param=False)(dense_mse)",
    "all": "(get_all=True, get_by_list=False, sens_param=False)(dense_mse)",
    "by list": "(get_all=False, get_by_list=True, sens_param=False)(dense_mse, weights)",
    "all, by list": "(get_all=True, get_by_list=True, sens_param=False)(dense_mse, weights)",
}
for name, form in OLDER.items():
    for part in ("values", "structure"):
        agree(11, f"gradients.GradOperation{form}", STYLES, (part,), "same", (name, part))

TOLD = "gradients.grad(custom_gradient, grad_position=0, weights=None, has_aux=False)"
agree(75, TOLD, (*STYLES, "torch-graph", "torch-tape"), ("values", 0), FORM, ("told",))
agree(75, TOLD, STYLES, ("values", 0), "same", ("told",))
agree(75, TOLD, ("torch-tape",), ("values", 0), TORCH, ("told",))
AS_PRINTED, AS_MEANT = ("as printed", "gradient"), ("as meant", "gradient")
agree(75, "gradients.sampler", (GRAPH,), ("as printed", "raised"), GRAPH, ("bare", "raised"))
agree(75, "gradients.sampler", (TAPE,), AS_PRINTED, TAPE, ("bare",))
agree(75, "gradients.sampler", (TAPE,), AS_PRINTED, FORM, ("kept",))
agree(75, "gradients.sampler", (TAPE,), AS_MEANT, FORM, ("kept",))
agree(75, "gradients.sampler", (GRAPH,), AS_MEANT, FORM, ("drawn again",))
agree(75, "gradients.sampler", STYLES, ("as meant", "places"), FORM, ("places",))
agree(75, "gradients.function", ("torch-tape",), AS_MEANT, FORM, ("kept",))

OUTPUTS = "gradients.outputs"
for form, ours in {"one output": "one", "a tuple of one": "a tuple of one"}.items():
    refusal: Path = ("has_aux", form, "raised")
    agree(80, OUTPUTS, (TAPE, TORCH), refusal, "same", (ours, "raised"))
agree(80, OUTPUTS, (GRAPH,), ("has_aux", "one output", "raised"), GRAPH, ("one", "raised"))
agree(80, OUTPUTS, (GRAPH,), ("has_aux", "a tuple of one"), GRAPH, ("a tuple of one",))
agree(80, OUTPUTS, EVERYWHERE, ("has_aux", "two outputs"), "same", ("two",))
agree(80, OUTPUTS, EVERYWHERE, ("has_aux", "two outputs", 0), FORM, ("gradient",))
agree(80, OUTPUTS, STYLES, ("has_aux", "two outputs", 1, 0), FORM, ("beside",))
agree(81, OUTPUTS, EVERYWHERE, ("has_aux", "two outputs", 0), FORM, ("loss",))
for form, ours, theirs in (
    ("two outputs", "both", "both"),
    ("stop_gradient", "stopped", "loss"),
):
    agree(81, OUTPUTS, EVERYWHERE, ("without", form), "same", (ours,))
    agree(81, OUTPUTS, EVERYWHERE, ("without", form), FORM, (theirs,))
too_early = ("without", "stop_gradient too early")
agree(81, OUTPUTS, STYLES, too_early, "same", ("stopped before",))
agree(81, OUTPUTS, STYLES, too_early, FORM, ("nothing",))

ARGUMENTS = "gradients.arguments"
TAKEN: dict[str, dict[str, tuple[str, ...]]] = {
    "positions": {
        GRAPH: ("0", "1", "(0, 1)"),
        TAPE: ("0", "1", "(0, 1)", "True"),
        TORCH: ("0", "1", "(0, 1)", "True", "-1"),
    },
    "weights": {
        GRAPH: (
            "ParameterTuple",
            "Parameter",
            "list",
            "tuple",
            "empty list",
            "one Parameter twice",
            "another net's Parameter",
        ),
        TAPE: (
            "ParameterTuple",
            "Parameter",
            "list",
            "tuple",
            "Tensor",
            "empty list",
            "one Parameter twice",
            "another net's Parameter",
        ),
        TORCH: ("list", "tuple", "one Parameter twice"),
    },
}
"""The forms that grad takes, by who takes them."""

REFUSED: dict[str, dict[str, tuple[str, ...]]] = {
    "positions": {
        GRAPH: ("'0'", "True", "[0, 1]", "()", "-1", "(0, 0)", "2"),
        TAPE: ("'0'", "[0, 1]", "()", "-1", "(0, 0)", "2"),
        TORCH: ("'0'", "[0, 1]", "()", "(0, 0)", "2"),
    },
    "weights": {
        GRAPH: ("string", "Tensor"),
        TAPE: ("string",),
        TORCH: ("string", "Tensor", "empty list", "another net's Parameter"),
    },
}
for part in ("positions", "weights"):
    for party in EVERYWHERE:
        for form in TAKEN[part][party]:
            agree(82, ARGUMENTS, (party,), (part, form), party, (part, form))
        for form in REFUSED[part][party]:
            refusal = (part, form, "raised")
            agree(82, ARGUMENTS, (party,), refusal, party, refusal)
for position in ("0", "1", "(0, 1)"):
    agree(82, ARGUMENTS, EVERYWHERE, ("positions", position), FORM, (position,))
for form in ("ParameterTuple", "list", "tuple"):
    agree(82, ARGUMENTS, STYLES, ("weights", form), FORM, ("weights",))
agree(82, ARGUMENTS, STYLES, ("weights", "Parameter"), FORM, ("weight",))

# Loss scaling

for stage in ("scaled", "unscaled"):
    agree(12, "loss-scale.guide_example", EVERYWHERE, (stage,), FORM, (stage,), EXACT)
    agree(12, "loss-scale.guide_example", STYLES, (stage,), "same", (stage,), EXACT)
agree(12, "loss-scale.guide_example", STYLES, ("all_finite",), "same", ("all finite",))
agree(13, "loss-scale.finiteness", STYLES, (), FORM, ())
agree(13, "loss-scale.finiteness", STYLES, (), "same", ())
agree(14, "loss-scale.underflow", STYLES, (), FORM, ())
for dtype in ("float16", "bfloat16", "float32"):
    for stage in ("without", "scaled", "unscaled in float32"):
        agree(14, "loss-scale.underflow", (TORCH,), (dtype, stage), FORM, (dtype, stage))
agree(15, "loss-scale.life", EVERYWHERE, ("turns",), FORM, ("turns",))
agree(15, "loss-scale.life", STYLES, ("turns", EVERY, "after"), "same", ("after",))

# Training

for norm in ("1.0", "5.0", "20.0"):
    agree(16, "training.clipping", ("mindspore",), ("by norm", norm), FORM, (f"to {norm}",))
    clipped = ("by norm", norm, "gradients")
    agree(16, "training.clipping", (TORCH,), clipped, FORM, (f"to {norm}",))
agree(16, "training.clipping", ("mindspore",), ("by default",), TAPE, ("by default",))
agree(16, "training.clipping", (TORCH,), ("by norm", "1.0", "returned"), FORM, ("norm",))
agree(16, "training.clipping", (TORCH,), ("by norm", "1.0", "gradients"), TORCH, ("to 1.0",))
for loss in ("mean", "sum"):
    for gradient in ("whole", "added", "divided"):
        place = (loss, gradient)
        agree(17, "training.accumulation", ("mindspore", TORCH), place, TORCH, place, SUMS)
for gradient in ("whole", "added", "divided"):
    place, ours_at = ("mean", gradient), ("batch norm", gradient)
    agree(17, "training.accumulation_batch_norm", ("mindspore", TORCH), place, TORCH, ours_at, SUMS)

BOTH = "tape-life.extra_output"
for path, ours in {
    "every output": "loss and z",
    "has_aux": "loss",
    "extra output stopped": "loss",
}.items():
    agree(18, BOTH, STYLES, (path,), FORM, (ours,))

for route, party in {"training.functional": GRAPH, "training.loop": TORCH}.items():
    agree(19, route, (party,), ("losses",), TORCH, ("losses",), SUMS)
    agree(19, route, (party,), ("states",), TORCH, ("after each",), SUMS)
for row, route in {19: "training.functional", 20: "training.jit"}.items():
    agree(row, route, (TAPE,), ("losses",), TORCH, ("losses",), SUMS)
    agree(row, route, (TAPE,), ("states",), TORCH, ("after each",), SUMS)
STEP_GRAPHS = "training.graphs"
for part in ("forward", "backward", "update"):
    for index in (0, 1):
        figure: Path = ("by itself", index, part)
        agree(21, STEP_GRAPHS, ("mindspore",), ("graph", index, part), GRAPH, figure)
    agree(21, STEP_GRAPHS, ("mindspore",), ("tape", 0, part), TAPE, ("by itself", 0, part))
    agree(21, STEP_GRAPHS, ("mindspore",), ("ms.jit", 0, part), TAPE, ("under ms.jit", 0, part))

for way in ("by itself", "ms.jit"):
    for part, ours in {
        "losses": "losses",
        "weight": "weight",
        "moments": "velocity",
        "steps counted": "steps",
    }.items():
        agree(83, "training.stateful", STYLES, (way, part), FORM, (ours,), SUMS)
        agree(83, "training.stateful", STYLES, (way, part), "same", (ours,))

# Tape and graph

agree(22, "tape-life.reused", STYLES, ("gradients",), FORM, ("gradients",))
agree(23, "tape-life.lifetime", ("torch-tape",), ("nodes",), TORCH, ("nodes",))
for engine, finder, step in (("torch-tape", TORCH, 4), (TAPE, TAPE, 6)):
    for part in ("op", "tensors", "bytes", "of inputs and parameters"):
        agree(23, "tape-life.lifetime", (engine,), ("steps", step, part), finder, (part,))
agree(23, "tape-life.forward_alone", (TAPE,), ("inside a gradient", "saved"), TAPE, ("tensors",))
agree(23, "tape-life.forward_alone", (TAPE,), ("by itself", "saved"), TAPE, ("outside",))
agree(24, "tape-life.switches", ("torch-tape",), ("plain", "saved"), TORCH, ("plain", "saved"))
agree(24, "tape-life.switches", ("torch-tape",), ("plain", "nodes"), TORCH, ("plain", "nodes"))
agree(24, "tape-life.switches", ("torch-tape",), ("no_grad", "saved"), TORCH, ("no_grad", "saved"))
for name in ("no_grad", "_no_grad"):
    agree(24, "tape-life.forward_alone", STYLES, (f"mindspore.{name}",), "same", (name,))

AGAIN = "tape-life.second_backward"
agree(25, AGAIN, ("torch-tape",), ("plain", "second", "raised"), TORCH, ("raised",))
agree(25, AGAIN, ("torch-tape",), ("retain_graph", ".grad"), TORCH, ("retained",))
agree(25, "tape-life.called_again", STYLES, ("gradients",), "same", ("gradients",))

NESTED, BY_SHAPE = "higher-order.nodes.wave", "higher-order.operators, by shape"
for order in ("1", "2", "3", "4"):
    tape, grown = ("by order", order, "tape"), (f"operators {order}",)
    values = ("values", order, "elements")
    engines = (*STYLES, "torch-tape", "torch-graph")
    agree(26, NESTED, engines, values, FORM, (f"order {order}",))
    agree(26, NESTED, ("torch-tape",), tape, TORCH, grown)
    agree(26, NESTED, (GRAPH,), ("by order", order, "validate"), GRAPH, grown)
for function in ("cube of sum", "cube of mean", "norm"):
    place = (function.replace(" ", "_"), "second")
    agree(26, BY_SHAPE, (GRAPH, "torch-tape"), place, FORM, (function,))
    agree(26, BY_SHAPE, STYLES, place, "same", (function,))

SMALL = "higher-order.small_hessians"
TWICE_BY_GRAD, BY_JACFWD = "grad of grad", "jacfwd of grad"
FULL = (GRAPH, "torch-func")
agree(84, SMALL, FULL, ("cube_of_sum", TWICE_BY_GRAD), FORM, ("cube of sum",), SUMS)
agree(84, SMALL, FULL, ("broadcast", TWICE_BY_GRAD), FORM, ("broadcast",), SUMS)
agree(84, SMALL, STYLES, ("cube_of_sum", TWICE_BY_GRAD), "same", ("cube of sum",))
agree(84, SMALL, STYLES, ("broadcast", TWICE_BY_GRAD), "same", ("broadcast",))
for shape in ("vector", "column"):
    product = f"product_with_{shape}"
    agree(84, SMALL, FULL, (product, TWICE_BY_GRAD), FORM, ("product",), SUMS)
    agree(84, SMALL, STYLES, (product, TWICE_BY_GRAD), "same", (shape,))
    agree(84, SMALL, ("torch-func",), (product, TWICE_BY_GRAD), TORCH, ("product",))
    agree(84, SMALL, ("torch-func",), (product, BY_JACFWD), FORM, ("Hessian",), SUMS)
    agree(84, SMALL, ("torch-func",), (product, BY_JACFWD), TORCH, ("Hessian",))
    agree(84, SMALL, STYLES, (product, BY_JACFWD), "same", (f"Hessian, {shape}",))
agree(84, SMALL, STYLES, ("product_with_column", BY_JACFWD), FORM, ("Hessian",), SUMS)

BRANCH = "stages.branch"
for path, ours in {"inputs times 1": "positive", "inputs times -1": "negative"}.items():
    agree(27, BRANCH, (GRAPH,), (path, "gradient", 0), FORM, (ours, 0))
    agree(27, BRANCH, (GRAPH,), (path, "gradient", 1, 0), FORM, (ours, 1))
    agree(27, BRANCH, (GRAPH,), (path, "gradient", 1, 0), GRAPH, (ours,))
    agree(27, BRANCH, (GRAPH,), (path, "gradient", 1, 1, 0), FORM, (ours, 2))
    agree(27, BRANCH, (TORCH,), (path, "tape"), TORCH, (ours,))
for part in ("forward", "backward"):
    agree(28, "stages.gradient_passes", (GRAPH,), ("passes", -1, part), GRAPH, (part,))
agree(29, "tape-life.variable", ("torch-tape",), ("leaf.grad",), TORCH, ("leaf",))
agree(29, "tape-life.variable", ("torch-tape",), ("type",), TORCH, ("type",))
agree(29, "tape-life.variable", ("torch-tape",), ("x is a leaf",), TORCH, ("x is a leaf",))
for path, ours in {
    ".grad after each backward": "after",
    "zero_grad(set_to_none=False)": "zeroed",
    "zero_grad()": "by default",
}.items():
    agree(30, "tape-life.accumulation", ("torch-tape",), (path,), TORCH, (ours,))
agree(30, "tape-life.called_again", STYLES, ("gradients", 0), FORM, ("returned",))
TWICE = "tape-life.answers"
for name in ("a", "b"):
    place = (f"by {name}", f"d{name}")
    agree(31, TWICE, STYLES, place, "same", (name,))
    agree(31, TWICE, ("torch-tape",), place, TORCH, ("tape",))
    agree(31, TWICE, ("torch-graph",), place, TORCH, ("function",))

for part in ("tensors", "bytes", "of inputs and parameters"):
    after_forward = ("steps", 4, part)
    agree(70, "tape-life.lifetime", (GRAPH,), after_forward, GRAPH, (part,))
    agree(70, "tape-life.lifetime", (GRAPH,), after_forward, FORM, (part,))
agree(70, "tape-life.reused", (GRAPH,), ("gradients",), FORM, ("gradients of cubes",))

KINKS_BY_GROUP = {
    "corners": ("relu6", "leaky_relu", "hardtanh", "hardswish"),
    "ties": ("norm_inf",),
    "steep": (
        "power_zero",
        "power_of_zero",
        "norm",
        "std",
        "atan2",
        "xlogy",
        "cosine_similarity",
        "self_division",
    ),
    "dead": ("relu_of_nan", "clamp_of_nan", "max_with_nan"),
}
"""The kinks at which both frameworks have a gradient, and not the same one or not the same value."""
for group, names in KINKS_BY_GROUP.items():
    kinks_of_group = f"operators.gradients_at_kinks.{group}"
    for name in names:
        agree(85, kinks_of_group, STYLES, (name, "found"), "same", (name,))
        agree(85, kinks_of_group, ("torch-tape", "torch-graph"), (name, "found"), TORCH, (name,))
TIES, DEAD = "operators.gradients_at_kinks.ties", "operators.gradients_at_kinks.dead"
refused_by = ("found", "raised")
agree(85, TIES, STYLES, ("cummax", *refused_by), "same", ("cummax", "raised"))
agree(85, TIES, ("torch-tape", "torch-graph"), ("cummax", "found"), TORCH, ("cummax",))
agree(85, DEAD, STYLES, ("branch", "found"), "same", ("branch",))
agree(85, DEAD, ("torch-tape",), ("branch", *refused_by), TORCH, ("branch", "raised"))

# Networks and devices

agree(32, "networks.starting_mode", ("mindspore",), ("layer",), TAPE, ("training",))
agree(32, "networks.starting_mode", (TORCH,), ("layer",), TORCH, ("training",))
FRAMEWORKS = ("mindspore", TORCH)
MODES = "networks.modes"
agree(33, MODES, FRAMEWORKS, ("training", "norm"), FORM, ("training",))
agree(33, MODES, FRAMEWORKS, ("training", "running_mean"), FORM, ("running mean",))
agree(33, MODES, FRAMEWORKS, ("training", "dropout_values"), FORM, ("kept by dropout",))
agree(33, MODES, FRAMEWORKS, ("inference", "norm"), FORM, ("inference",))
agree(33, MODES, FRAMEWORKS, ("inference", "dropout_zeros"), FORM, ("zeros in inference",))
agree(34, "networks.containers", ("mindspore",), (), TAPE, ())
agree(34, "networks.containers", (TORCH,), (), TORCH, ())
agree(35, "networks.parts", ("mindspore",), ("missing",), TAPE, ("missing",))
KINDS = "networks.kinds_of_data"
agree(36, KINDS, (TORCH,), ("Variable_is",), TORCH, ("Variable",))
agree(36, KINDS, (TORCH,), ("buffers",), TORCH, ("buffers",))
agree(36, KINDS, (TORCH,), ("has_gradient",), TORCH, ("has a gradient",))
agree(36, KINDS, ("mindspore",), ("buffers",), TAPE, ("buffers",))
FROZEN = ("trainable_after_requires_grad_False",)
agree(36, KINDS, ("mindspore",), FROZEN, TAPE, ("trainable",))
agree(37, "devices.moves", ("mindspore",), ("tensor_api",), TAPE, ("tensor",))
agree(37, "devices.moves", (TORCH,), ("tensor_api",), TORCH, ("tensor",))
agree(38, "devices.host", (TORCH,), ("result_with_tape",), TORCH, ())
agree(38, "devices.host", ("mindspore",), ("gradient",), TAPE, ("gradient",))
for program in ("by_tensor", "slice_by_tensor", "by_mask"):
    place = (f"{program}.graph", "gradient")
    agree(39, "networks.slices", ("mindspore",), place, GRAPH, (program,))
of_a_list = ("list_by_tensor.graph", "gradient")
agree(39, "networks.slices", ("mindspore",), of_a_list, GRAPH, ("of_a_list",))
refused = ("loop_to_tensor.graph", "gradient", "raised")
agree(39, "networks.slices", ("mindspore",), refused, GRAPH, ("loop_to_tensor",))

CONTEXT = "devices.context"
agree(73, CONTEXT, ("mindspore",), ("warnings",), TAPE, ("warnings",), EXACT)
agree(73, CONTEXT, ("mindspore",), ("as meant",), TAPE, ("CPU",))
agree(73, CONTEXT, ("mindspore",), ("as printed", "raised"), TAPE, ("Ascend", "raised"))
CONTAINERS = "networks.parameters"
for container in ("list", "tuple", "ParameterTuple"):
    registered = (container, "registered")
    agree(74, CONTAINERS, ("mindspore",), registered, TAPE, (container,))
    agree(74, CONTAINERS, ("mindspore",), (container, "value"), FORM, ("value",))
for container in ("list", "tuple"):
    agree(74, CONTAINERS, (TORCH,), (container, "registered"), TORCH, (container,))
agree(74, CONTAINERS, ("mindspore",), ("ParameterTuple", "gradients"), FORM, ("gradients",))
agree(74, CONTAINERS, (TORCH,), ("ParameterList", "gradients"), FORM, ("gradients",))
LINES = "networks.listings"
MISSPELT = "value_and_grad(forward_fn), defined as forword_fn"
AS_THEY_ARE = (("nn.Conv2d(1, 3)", "conv"), ("nn.BatchNorm(3)", "norm"), (MISSPELT, "function"))
for line, short in AS_THEY_ARE:
    at_line: Path = ("as printed", line, "raised")
    agree(92, LINES, ("mindspore",), at_line, TAPE, (f"{short} printed", "raised"))
AS_THEY_SHOULD_BE = (
    ("nn.Conv2d(1, 3, 3)", "conv"),
    ("nn.BatchNorm2d(3)", "norm"),
    ("value_and_grad(forward_fn)", "function"),
)
for line, short in AS_THEY_SHOULD_BE:
    agree(92, LINES, ("mindspore",), ("as meant", line), TAPE, (f"{short} meant",))
agree(92, LINES, (TORCH,), ("as printed",), TORCH, ("CUDA_VISIBLE_DEVICE",))
agree(92, LINES, (TORCH,), ("as meant",), TORCH, ("CUDA_VISIBLE_DEVICES",))
for level in ("O0", "O2", "O3"):
    agree(76, "networks.amp_level", STYLES, (level,), "same", (level,))
BATCHES = "networks.batches"
for way in ("one by one", "by default", "keeping the rest", "again"):
    agree(78, BATCHES, EVERYWHERE, (way,), FORM, ("all",))
agree(78, BATCHES, EVERYWHERE, ("dropping the rest",), FORM, ("whole batches",))
agree(78, BATCHES, STYLES, ("by default",), "same", ("by default",))
WRITING = "devices.outputs"
agree(79, WRITING, STYLES, ("element written",), "same", ("written",))
agree(79, WRITING, STYLES, ("array written",), "same", ("by its array",))
agree(79, WRITING, STYLES, ("element written",), FORM, ("written",))
agree(79, WRITING, (TORCH,), ("cpu", "element written"), TORCH, ("written",))
agree(79, WRITING, (TORCH,), ("cpu", "array written", "raised"), TORCH, ("array", "raised"))

# Operators

LIBRARIES = (*FRAMEWORKS, "keras")
ENGINES = (*STYLES, "torch-graph", "torch-tape")
agree(40, "operators.inference", ENGINES, ("inference", 0), FORM, ("output",))

DROPOUT = "operators.dropout_settings"
for part in ("kept", "survivor"):
    for path in ("p=0.3", "keep_prob=0.7"):
        agree(41, DROPOUT, ("mindspore",), (path, part), FORM, ("of 0.7", part), SAMPLED)
    agree(41, DROPOUT, ("mindspore",), ("0.3 alone", part), TAPE, ("alone", part), SAMPLED)
    agree(41, DROPOUT, (TORCH,), ("0.3 alone", part), TORCH, ("alone", part), SAMPLED)
    agree(41, DROPOUT, ("keras",), ("rate=0.3", part), FORM, ("of 0.7", part), SAMPLED)

STATES = "operators.batch_norm_states"
for part in ("output", "running", "gradients"):
    for path in ("None, training", "True, training", "True, inference"):
        state = f"use_batch_statistics={path}"
        agree(42, STATES, STYLES, (state, part), TORCH, ("batch", part), SUMS)
    for path in ("None, inference", "False, training", "False, inference"):
        state = f"use_batch_statistics={path}"
        agree(42, STATES, STYLES, (state, part), TORCH, ("running", part), SUMS)
    for path, ours in {"training": "batch", "inference": "running"}.items():
        state = f"track_running_stats=True, {path}"
        agree(42, STATES, ("torch-graph", "torch-tape"), (state, part), TORCH, (ours, part), SUMS)
for part in ("output", "gradients"):
    for path in ("training", "inference"):
        state = f"track_running_stats=False, {path}"
        agree(
            42, STATES, ("torch-graph", "torch-tape"), (state, part), TORCH, ("batch", part), SUMS
        )

MOMENTUM = "operators.batch_norm_momentum"
for kept in ("0.0", "0.5", "0.9", "0.99", "1.0"):
    agree(43, MOMENTUM, ("mindspore",), (kept,), FORM, (f"keeping {kept}",))
    agree(43, MOMENTUM, (TORCH,), ("one_minus", kept), FORM, (f"keeping {kept}",))
    agree(43, MOMENTUM, ("keras",), (kept, 0), FORM, (f"keeping {kept}", 0))
agree(43, MOMENTUM, FRAMEWORKS, ("default",), FORM, ("keeping 0.9",))
agree(43, MOMENTUM, (TORCH,), ("same", "0.9"), FORM, ("keeping 0.1",))
agree(43, MOMENTUM, ("keras",), ("default", 0), FORM, ("keeping 0.99", 0))

AXES = "operators.axes"
for path in ("ops.transpose(x, (3, 2, 1, 0))", "x.permute(3, 2, 1, 0)"):
    agree(44, AXES, ("mindspore",), (path,), FORM, ("reversed",))
agree(44, AXES, (TORCH,), ("x.permute(3, 2, 1, 0)",), FORM, ("reversed",))
agree(44, AXES, (TORCH,), ("torch.transpose(x, 0, 3)",), FORM, ("swapped",))
agree(44, AXES, ("mindspore",), ("x.transpose(0, 3)",), FORM, ("swapped",))
POOLS = "operators.max_pool_of_nine"
agree(45, POOLS, (*STYLES, "keras"), ("same",), FORM, ("same",))
agree(45, POOLS, (*ENGINES, "keras"), ("valid",), FORM, ("valid",))
agree(45, POOLS, ENGINES, ("ceil_mode=True",), FORM, ("same",))
for way in ("same", "ceil_mode=True"):
    of_negative = (f"negative, {way}",)
    parties = ENGINES if way == "ceil_mode=True" else STYLES
    agree(45, POOLS, parties, of_negative, FORM, ("negative",))
bottom_right = ("negative, zeros bottom and right, then valid",)
agree(45, POOLS, (*ENGINES, "keras"), bottom_right, FORM, ("zeros",))
padded = ("zeros top and left, then valid",)
agree(46, POOLS, (*ENGINES, "keras"), padded, FORM, ("padded",))
SIDES = "operators.convolution_sides"
agree(47, SIDES, ("mindspore", "keras"), (), FORM, ("same",))
agree(47, f"{SIDES}_of_a_number", FRAMEWORKS, (), FORM, ("padding 1",))
agree(48, "operators.valid_sizes", LIBRARIES, (), FORM, ())

INITIAL = "operators.initial_values"
for row, layer in {49: "convolution", 50: "dense"}.items():
    weight = f"{layer} weight"
    agree(row, INITIAL, LIBRARIES, (weight, "bound"), FORM, ("bound",))
    agree(row, INITIAL, FRAMEWORKS, (weight, "std"), FORM, ("std",), SAMPLED)
    agree(row, INITIAL, ("mindspore",), (weight, "std"), TAPE, ("std",), SAMPLED)
    agree(row, INITIAL, ("keras",), (weight, "std"), FORM, ("std of Keras",), SAMPLED)

DIFFERENTIATED = (
    "transpose",
    "max pool, valid",
    "average pool, valid",
    "convolution, valid",
    "dense",
    "layer norm",
    "gelu, exact",
    "dropout, inference",
)
DIFFERENTIATING = (*STYLES, "torch-tape")
for operator in DIFFERENTIATED:
    place = (operator, "first")
    agree(51, "operators.operator_gradients", DIFFERENTIATING, place, TORCH, place, SUMS)

EVALUATED = "operators.evaluated_batch_norm"
for mode in ("evaluation", "training"):
    for part in ("after", "output"):
        agree(71, EVALUATED, (TORCH,), (mode, part), FORM, (part,), SUMS)
for index in (0, 1):
    learned: Path = ("track_running_stats=False, inference", "gradients", index + 1)
    agree(71, STATES, ("torch-tape", "torch-graph"), learned, TORCH, ("gradients", index))
    agree(71, STATES, ("torch-tape", "torch-graph"), learned, FORM, ("gradients", index), SUMS)

WEIGHTS = "operators.implicit_weights"
for layer, ours in {"conv": "conv", "dense": "dense", "lstm input": "lstm"}.items():
    for part in ("minimum", "maximum", "std"):
        place = (f"{layer} weight", part)
        agree(72, WEIGHTS, FRAMEWORKS, place, FORM, (ours, part), SAMPLED)
        agree(72, WEIGHTS, ("keras",), place, FORM, (f"{ours} in Keras", part), SAMPLED)
    agree(72, WEIGHTS, FRAMEWORKS, ("lstm hidden weight", "std"), FORM, ("lstm", "std"), SAMPLED)
embedding = ("embedding weight", "std")
agree(72, WEIGHTS, ("mindspore",), embedding, FORM, ("embedding in MindSpore",), SAMPLED)
agree(72, WEIGHTS, (TORCH,), embedding, FORM, ("embedding in PyTorch",), SAMPLED)
agree(72, WEIGHTS, ("keras",), embedding, FORM, ("embedding in Keras", "std"), SAMPLED)
for norm in ("batch norm", "layer norm", "group norm"):
    for part in ("scale", "shift"):
        agree(72, WEIGHTS, LIBRARIES, (f"{norm} {part}",), FORM, (part,))

# Optimizers and schedules

for route in ("model", "step_cell"):
    agree(52, f"training.{route}", STYLES, ("states",), TORCH, ("one forward",), SUMS)
agree(52, "training.loop", (TORCH,), ("states",), TORCH, ("one forward",), SUMS)
GUIDE_STEP = "training.guide_step"
ONCE, TWICE = "one forward", "two forwards"
for variant, forwards in {"as printed": TWICE, "set_grad()": TWICE, "as meant": ONCE}.items():
    agree(52, GUIDE_STEP, STYLES, (variant, "states"), TORCH, (forwards,), SUMS)

LISTED = "training.filtered"
agree(53, LISTED, ("mindspore",), ("type",), TAPE, ("type",))
agree(53, LISTED, ("mindspore",), ("get_parameters",), TAPE, ("get_parameters",))
agree(53, LISTED, (TORCH,), ("type",), TORCH, ("type",))
agree(54, "schedules.piecewise", ("mindspore",), ("rates",), FORM, ("rates",))
USED = "schedules.used"
for path in ("nn.SGD with a list", "nn.SGD with a Cell", "experimental SGD, stepped by hand"):
    agree(55, USED, ("mindspore",), (path,), FORM, ("used",))
by_hand = "SGD, stepped by hand"
agree(55, USED, (TORCH,), (by_hand, "used"), FORM, ("used",))
agree(55, USED, (TORCH,), (by_hand, "said"), FORM, ("said",))
agree(55, USED, (TORCH,), ("SGD, never stepped", "used"), FORM, ("never stepped",))
agree(55, USED, ("mindspore",), ("experimental SGD, never stepped",), FORM, ("never stepped",))
for decay in ("exponential", "natural exponential", "inverse", "cosine", "polynomial"):
    agree(56, "schedules.lists", ("mindspore",), (decay,), FORM, (decay,))
    agree(56, "schedules.cells", ("mindspore",), (decay,), FORM, (decay,))
    if decay != "cosine":  # PyTorch's turns around
        agree(56, "schedules.by_hand", (TORCH,), (decay,), FORM, (decay,))

DECAY = "training.weight_decay"
for optimizer, rule in {"SGD": "SGD", "Momentum": "SGD", "Adam": "Adam"}.items():
    for name in ("fc.weight", "fc.bias"):
        agree(57, DECAY, ("mindspore",), (f"nn {optimizer}", "0.1", name), FORM, (rule,))
    for name in ("norm.gamma", "norm.beta"):
        agree(57, DECAY, ("mindspore",), (f"nn {optimizer}", "0.1", name), FORM, ("none",))
for optimizer in ("SGD", "Adam", "AdamW"):
    for name in ("fc.weight", "norm.gamma"):
        agree(57, DECAY, (TORCH,), (f"torch {optimizer}", "0.1", name), FORM, (optimizer,))
agree(57, DECAY, (TORCH,), ("torch AdamW", "default", "fc.bias"), FORM, ("AdamW by default",))
agree(57, DECAY, (TORCH,), ("torch Adam", "default", "fc.bias"), FORM, ("none",))
for setting in ("lr", "weight_decay", "momentum"):
    agree(58, "training.groups", (TORCH,), ("torch", setting), FORM, (setting,))
    agree(58, "training.groups", ("mindspore",), ("experimental", setting), FORM, (setting,))
    if setting != "momentum":  # which nn refuses
        agree(58, "training.groups", ("mindspore",), ("nn", setting), FORM, (setting,))
agree(59, "training.told", (TORCH,), ("torch", "has"), TORCH, ("has",))
agree(59, "training.told", (TORCH,), ("scheduler.get_last_lr",), TORCH, ("get_last_lr",))
agree(59, "training.told", ("mindspore",), ("nn", "has"), TAPE, ("has",))
agree(59, "training.told", ("mindspore",), ("nn", "get_lr"), TAPE, ("get_lr",))
for style in ("graph", "tape"):
    for name in ("nn.Momentum", "small operators, as meant", "ApplyMomentum, as meant"):
        agree(60, "training.momentum", ("mindspore",), (style, name), FORM, ("as meant",))
    printed = (style, "small operators, as printed")
    agree(60, "training.momentum", ("mindspore",), printed, FORM, ("as printed",))
for kind in ("list", "Cell"):
    agree(65, "schedules.group_rates", ("mindspore",), ("get_lr", kind), FORM, ("of the first",))
agree(65, "schedules.group_rates", (TORCH,), ("get_last_lr",), FORM, ("of all",))
for name in ("scaled", "whole", "divided by hand", "scaled, decayed"):
    agree(66, "training.loss_scale", ("nn",), (name,), FORM, (name,))

EXPORTED, UPDATES = "training.optimizers", "training.unmatched"
agree(62, EXPORTED, ("mindspore",), ("nn",), TAPE, ("nn",))
agree(62, EXPORTED, ("mindspore",), ("experimental",), TAPE, ("experimental",))
agree(62, "training.minimized", ("mindspore",), ("LBFGS",), TAPE, ("minimum",), SUMS)
agree(62, UPDATES, ("nn", "experimental", TORCH), ("ASGD",), FORM, ("ASGD",), SUMS)
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
agree(63, "schedules.unmatched", (TORCH,), ("one cycle",), FORM, ("OneCycleLR",))
agree(63, "schedules.names", ("mindspore",), ("hand", NAMES), TAPE, ("names",))
agree(63, "schedules.names", (TORCH,), ("torch", NAMES), TORCH, ("names",))
for optimizer in ("ProximalAdagrad", "AdamOffload", "FTRL"):
    agree(64, UPDATES, ("nn",), (optimizer,), FORM, (optimizer,), SUMS)
agree(64, EXPORTED, (TORCH,), ("torch",), TORCH, ("names",))
for optimizer, ours in {"Adagrad": "ProximalAdagrad", "Adam": "AdamOffload"}.items():
    agree(64, UPDATES, (TORCH,), (optimizer,), TORCH, (optimizer,))
    agree(64, UPDATES, (TORCH,), (optimizer,), FORM, (ours,), SUMS)
agree(64, UPDATES, ("nn",), ("Lamb", "raised"), TAPE, ("Lamb", "raised"))
agree(64, "training.thor", ("mindspore",), ("step", "raised"), TAPE, ("thor", "raised"))
misprinted = ("ProximalAadagrad", "raised")
agree(64, "training.looked_up", ("mindspore",), misprinted, TAPE, misprinted)
for setting in ("lr", "momentum"):
    told: Path = ("groups", EVERY, setting)
    agree(67, "training.param_groups", ("experimental", TORCH), told, FORM, (setting,))
told_names: Path = ("groups", 1, NAMES)
agree(67, "training.param_groups", ("experimental",), told_names, TAPE, ("settings",))
agree(67, "training.param_groups", (TORCH,), told_names, TORCH, ("settings",))
agree(67, "training.param_groups", ("nn",), ("groups", "raised"), TAPE, ("nn", "raised"))
for way in ("as printed", "as meant"):
    agree(68, "training.listed_filters", ("mindspore",), (way,), TAPE, (way,))
    agree(68, "training.listed_filters", (TORCH,), (way,), TORCH, (way,))
SHAPES = "training.listed_shapes"
agree(69, SHAPES, ("mindspore",), ("as printed",), FORM, ("same",))
agree(69, SHAPES, ("mindspore",), ("as printed",), TAPE, ("by default",))
agree(69, SHAPES, ("mindspore",), ("padded as in PyTorch",), FORM, ("valid",))
agree(69, SHAPES, ("mindspore",), ("padded as in PyTorch",), TAPE, ("valid",))
agree(69, SHAPES, (TORCH,), ("as printed",), FORM, ("valid",))
agree(69, SHAPES, (TORCH,), ("as printed",), TORCH, ("by default",))
agree(69, SHAPES, (TORCH,), ("padded as in MindSpore",), TORCH, ("same",))
for party, finder, label in (("mindspore", TAPE, "PyTorch"), (TORCH, TORCH, "MindSpore")):
    refusal = (f"with {label}'s label", "raised")
    agree(69, SHAPES, (party,), refusal, finder, ("other label", "raised"))

# Two processes

RANKS = "data-parallel.two_processes"
agree(61, RANKS, FRAMEWORKS, ("ranks", EVERY, "local"), FORM, ("local",))
for rank in (0, 1):
    agree(61, RANKS, FRAMEWORKS, ("ranks", rank, "mean"), FORM, ("mean",))
    agree(61, RANKS, FRAMEWORKS, ("ranks", rank, "sum"), FORM, ("sum",))
    agree(61, RANKS, FRAMEWORKS, ("ranks", rank, "after_step"), FORM, ("after a step",))
    for style in ("graph", "tape"):
        routes: Path = ("ranks", rank, "routes", style)
        for name in ("value_and_grad", "GradOperation"):
            agree(61, RANKS, ("mindspore",), (*routes, name), FORM, ("local", rank))
        for name in ("TrainOneStepCell", "Model.train"):
            agree(61, RANKS, ("mindspore",), (*routes, name), FORM, ("mean",))

# Studies

for function in ("concatenation", "broadcast"):
    study = "higher-order"
    agree(
        study,
        BY_SHAPE,
        (GRAPH, "torch-tape", "torch-func"),
        (function, "second"),
        FORM,
        (function,),
    )
# Which wrong numbers the tape gives for a broadcast depends on how it is written.
concatenated = ("concatenation", "second")
agree("higher-order", BY_SHAPE, (TAPE,), concatenated, TAPE, ("concatenation",))
for share in ("underflow", "overflow"):
    agree("loss-scale", "loss-scale.sweep", EVERYWHERE, ("float16", share), FORM, (share,))
for part in ("tensors", "bytes", "of inputs and parameters"):
    agree("tape-life", "tape-life.lifetime", ("torch-tape",), ("steps", 8, part), TORCH, (part,))
agree("tape-life", "tape-life.lifetime", ("torch-tape",), ("nodes",), TORCH, ("nodes",))
for part in ("forward", "backward"):
    agree("stages", "stages.gradient_passes", (GRAPH,), ("passes", -1, part), GRAPH, (part,))

RULES = ("SGD", "SGD with momentum", "Nesterov momentum", "Adam", "Adagrad")
for rule in RULES:
    agree(
        "training", "training.updates", ("nn", "experimental", TORCH), (rule,), FORM, (rule,), SUMS
    )
for rule in ("AdamW", "RMSprop"):
    agree("training", "training.updates", ("experimental", TORCH), (rule,), FORM, (rule,), SUMS)
for rule, ours in {"AdamW": "AdamWeightDecay", "RMSprop": "RMSProp from ones"}.items():
    agree("training", "training.updates", ("nn",), (rule,), FORM, (ours,), SUMS)

agree("schedules", "schedules.by_hand", (TORCH,), ("cosine",), FORM, ("goes on",))
for question in ("schedules.lists", "schedules.cells"):
    agree("schedules", question, ("mindspore",), ("cosine",), FORM, ("stays",))

KINKS = "operators.gradients_at_kinks.corners"
for name, ours in {
    "relu": "relu",
    "relu_by_maximum": "maximum",
    "relu_by_clamp": "clamp",
    "relu_by_where": "where",
    "relu6": "relu6",
}.items():
    slope = (name, "found", "gradient", 0)
    agree("operators", KINKS, ("torch-tape", "torch-graph"), slope, TORCH, (ours,))
for name in ("relu", "relu6"):
    agree("operators", KINKS, STYLES, (name, "found", "gradient", 0), TAPE, (name,))

for rank in (0, 1):
    for part in ("mean", "sum"):
        agree("data-parallel", RANKS, FRAMEWORKS, ("ranks", rank, part), FORM, (part,))
agree("devices", "devices.sees", (TORCH,), ("available",), TORCH, ())
agree("devices", "devices.sees", ("mindspore",), ("available",), TAPE, ())

# Conventions

FUNC = "torch-func"
for asked_for, by_formula, givers in (
    ("default_position", "by x", (*STYLES, FUNC)),
    ("two_outputs", "loss and logits", STYLES),
    ("aliased_input", "one of two uses", (GRAPH, FUNC)),
    ("aliased_input", "both uses", (TAPE, "torch-tape")),
    ("second_order", "second derivative", (*STYLES, FUNC)),
    ("complex_input", "by z", ("torch-tape", FUNC)),
):
    agree("conventions", "conventions.calls", givers, (asked_for,), FORM, (by_formula,))
agree("conventions", "conventions.values", FRAMEWORKS, ("gelu",), FORM, ("gelu",))
agree("conventions", "conventions.values", (TORCH,), ("std_of_four",), FORM, ("std by n - 1",))
agree("conventions", "conventions.values", ("mindspore",), ("std_of_four",), FORM, ("std by n",))
for library, its_finder in ((TORCH, TORCH), ("mindspore", TAPE)):
    for of_layer, read_from in (
        ("layer_norm_epsilon", "layer norm"),
        ("dropout_of_0_3", "dropout"),
    ):
        agree(
            "conventions",
            "conventions.layers",
            (library,),
            (of_layer,),
            its_finder,
            (read_from,),
            SAMPLED,
        )
MOVED: Path = ("momentum_second_step",)
agree("conventions", "conventions.optimizers", FRAMEWORKS, MOVED, FORM, ("momentum",), SUMS)

# Further statements

LIMIT = "loss-scale.range"
for scaling in ("unscaled", "scaled"):
    agree(86, LIMIT, EVERYWHERE, (scaling, "gradient"), FORM, (scaling,))
around, by_setting = "zeros all around, then valid", "padding=1"
for party in (GRAPH, TAPE, "torch-tape"):
    agree(87, POOLS, (party,), (f"negative, {around}",), FORM, ("zeros",))
    agree(87, POOLS, (party,), (f"negative, {by_setting}",), FORM, ("setting",))
    for way in (around, by_setting):
        agree(87, POOLS, (party,), (way,), FORM, ("zeros, from 0 on",))
for kind in ("tensor", "buffer", "parameter"):
    agree(88, "networks.not_trained", STYLES, ("after", kind), "same", (kind,))
for part in ("value", "gradient"):
    agree(89, "gradients.functional", EVERYWHERE, (part,), FORM, (part,))
agree(90, "gradients.defaults", STYLES, ("grad",), FORM, ("x",))
agree(90, "gradients.defaults", STYLES, ("value_and_grad", 0), FORM, ("value",))
agree(90, "gradients.defaults", STYLES, ("value_and_grad", 1, 0), FORM, ("w",))
agree(91, TOLD, STYLES, ("values", 0), FORM, ("told",))
BY_GROUPS = "training.takes_groups"
agree(93, BY_GROUPS, (TORCH,), ("LBFGS", "raised"), TORCH, ("LBFGS",))
agree(93, BY_GROUPS, (TORCH,), ("SGD",), TORCH, ("SGD",))
agree(93, BY_GROUPS, ("mindspore",), ("FTRL", "raised"), TAPE, ("FTRL",))
agree(93, BY_GROUPS, ("mindspore",), ("SGD",), TAPE, ("SGD",))
agree(94, LIMIT, EVERYWHERE, ("steep", "value"), FORM, ("loss",), 2e-3)
agree(94, LIMIT, EVERYWHERE, ("steep", "gradient"), FORM, ("gradient",))

# What else the evidence of these rows shows

for call, index in {CALLS[7]: 0, OF_THE_SUM: 1}.items():
    agree(8, call, STYLES, ("structure",), "same", ("structures", index))
    agree(8, call, ("torch-tape",), ("structure",), GRAPH, ("structures", index))
for name, settings in WITH_VALUE.items():
    call = NET.replace(".grad(", ".value_and_grad(").format(*settings)
    agree(10, call, STYLES, ("structure",), "same", (name, "structure"))
for name, settings in {
    "first": ("0", None, False),
    "all": ("(0, 1)", None, False),
    "by list": ("None", "all", False),
    "all, by list": ("(0, 1)", "all", False),
}.items():
    agree(11, NET.format(*settings), STYLES, ("values",), "same", (name, "values"))

for case in (
    "finite numbers",
    "zeros",
    "inf",
    "-inf",
    "nan",
    "inf in the last of two tensors",
    "the greatest float16",
):
    refusal = (f"{case}, float16", "raised")
    agree(13, "loss-scale.finiteness", (TORCH,), refusal, TORCH, refusal)
    agree(13, "loss-scale.finiteness", (TORCH,), (f"{case}, float32",), FORM, (f"{case}, float32",))
    agree(
        13, "loss-scale.finiteness", (TORCH,), (f"{case}, float32",), TORCH, (f"{case}, float32",)
    )
half: Path = ("float16", "unscaled there", "raised")
agree(14, "loss-scale.underflow", (TORCH,), half, TORCH, ("unscaled there", "raised"))
STEP = "loss-scale.overflowed_step"
agree(15, STEP, STYLES, ("optimizer(gradients)", "stepped"), "same", ("moved",))
agree(15, STEP, STYLES, ("optimizer(gradients)", "weight"), "same", ("weight",))
for route, ours in {
    "nn.TrainOneStepWithLossScaleCell": "cell",
    "amp.build_train_network with DynamicLossScaleManager": "built",
}.items():
    agree(15, STEP, STYLES, (route, "raised"), "same", (ours, "raised"))
agree(16, "training.clipping", ("mindspore",), ("default",), TAPE, ("default",))
agree(18, BOTH, STYLES, ("first output alone",), FORM, ("loss",))
agree(20, "training.functional", (TAPE,), ("states",), TORCH, ("after each",), SUMS)

FORWARD = "tape-life.forward_alone"
for where, ours in {
    ("by itself", "saved"): "by itself",
    ("inside a gradient", "saved"): "inside",
    ("inside a gradient, under _no_grad", "saved"): "under _no_grad",
}.items():
    agree(24, FORWARD, (TAPE,), where, TAPE, (ours,))
switched: Path = ("inside a gradient, under _no_grad", "raised")
agree(24, FORWARD, (GRAPH,), switched, GRAPH, ("switched", "raised"))
agree(25, AGAIN, ("torch-tape",), ("retain_graph", "second"), TORCH, ("second",))
VARIABLE = "tape-life.variable"
for part, ours in {
    "torch.autograd.Variable exists": "exists",
    "is a Tensor": "is a Tensor",
    "x.grad as printed": "x",
    "warned": "warned",
}.items():
    agree(29, VARIABLE, ("torch-tape",), (part,), TORCH, (ours,))
agree(30, "tape-life.called_again", STYLES, ("gradients",), FORM, ("each of three",))

for part in ("own", "dropout"):
    agree(32, "networks.starting_mode", ("mindspore",), (part,), TAPE, (part,))
    agree(32, "networks.starting_mode", (TORCH,), (part,), TORCH, (part,))
at_rest: Path = ("inference", "running_mean")
agree(33, MODES, FRAMEWORKS, at_rest, FORM, ("running mean at the start",))
PARTS = "networks.parts"
agree(35, PARTS, ("mindspore",), ("cells_and_names",), TAPE, ("cells_and_names",))
agree(35, PARTS, ("mindspore",), ("get_parameters",), TAPE, ("get_parameters",))
agree(35, PARTS, ("mindspore",), ("after_insert_child_to_cell",), TAPE, ("with another",))
agree(35, PARTS, (TORCH,), ("named_children",), TORCH, ("named_children",))
agree(35, PARTS, (TORCH,), ("parameters",), TORCH, ("parameters",))
agree(35, PARTS, (TORCH,), ("after_add_module",), TORCH, ("with another",))
agree(36, KINDS, ("mindspore",), ("kinds",), TAPE, ("kinds",))
agree(36, KINDS, ("mindspore",), ("tensor_has",), TAPE, ("of a tensor",))
agree(36, KINDS, (TORCH,), ("kinds",), TORCH, ("kinds",))
for way in ("Tensor.to", "Tensor.move_to", "Cell.to"):
    agree(37, "devices.moves", ("mindspore",), ("moved", "CPU", way), TAPE, ("CPU", way))
    for device in ("Ascend", "GPU"):
        refusal = (device, way, "raised")
        agree(37, "devices.moves", ("mindspore",), ("moved", *refusal), TAPE, refusal)

SLICES = "networks.slices"
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
    for style, finder in {"graph": GRAPH, "tape": TAPE}.items():
        for part in ("value", "gradient"):
            end = ("raised",) if style == "graph" and function in REFUSED_IN_GRAPH else ()
            place = (f"{function}.{style}", part, *end)
            agree(39, SLICES, ("mindspore",), place, finder, ("both", function, part, *end))
for part in ("fixed", "dynamic", "gradient", "gradient_in_a_cell"):
    agree(39, "networks.compilations", ("mindspore",), (part,), TAPE, ("compilations", part))

agree(40, "operators.inference", ENGINES, ("inference", 1), FORM, ("output",))
agree(41, DROPOUT, (TORCH,), ("p=0.3", "kept"), FORM, ("of 0.7", "kept"), SAMPLED)
agree(44, AXES, ("mindspore",), ("mint.transpose(x, 0, 3)",), FORM, ("swapped",))
refuses_same: Path = ("same", "raised")
agree(45, POOLS, ("torch-tape",), refuses_same, TORCH, refuses_same)
BY_HAND = "operators.padding_by_hand"
agree(46, BY_HAND, STYLES, ("as meant",), FORM, ("padded",))
agree(46, BY_HAND, STYLES, ("as printed", "raised"), "same", ("printed", "raised"))
STRIDED = "operators.strided_convolution"
for way in ("by default", "same"):
    agree(47, STRIDED, ("mindspore",), (way,), FORM, ("strided, same",))
agree(47, STRIDED, FRAMEWORKS, ("padding=1",), FORM, ("strided, padding 1",))
agree(47, STRIDED, (TORCH,), refuses_same, TORCH, refuses_same)
for row, layer in {49: "convolution", 50: "dense"}.items():
    for part in ("weight", "bias"):
        for limit, ours in {"minimum": "minimum", "maximum": "bound"}.items():
            place = (f"{layer} {part}", limit)
            agree(row, INITIAL, FRAMEWORKS, place, FORM, (ours,), SAMPLED)
    for limit, ours in {"minimum": "minimum of Keras", "maximum": "bound of Keras"}.items():
        agree(row, INITIAL, ("keras",), (f"{layer} weight", limit), FORM, (ours,), SAMPLED)
    agree(row, INITIAL, ("keras",), (f"{layer} bias", "zeros"), FORM, ("share of zeros",))

FURTHER_DIFFERENTIATED = (
    "batch norm, training",
    "batch norm, inference",
    "max pool, same",
    "convolution, same",
    "cross entropy, classes",
    "cross entropy, one-hot",
    "gelu, tanh",
    "dropout, p = 0",
)
GRADIENTS = "operators.operator_gradients"
WITHOUT_SECOND: dict[str, tuple[str, ...]] = {
    "max pool, same": STYLES,
    "max pool, valid": STYLES,
    "average pool, valid": STYLES,
    "gelu, tanh": STYLES,
    "layer norm": (TAPE,),
    "cross entropy, classes": STYLES,
}
"""Operators that MindSpore cannot differentiate twice, and in which styles."""

OF_A_CONSTANT = {
    "batch norm, training",
    "layer norm",
    "cross entropy, classes",
    "cross entropy, one-hot",
}
"""What changes nothing when all its inputs grow alike: the sum of its gradient is 0."""

for operator in (*DIFFERENTIATED, *FURTHER_DIFFERENTIATED):
    place = (operator, "first")
    agree(51, GRADIENTS, ("torch-tape", "torch-graph", *STYLES), place, TORCH, place, SUMS)
    refusing = WITHOUT_SECOND.get(operator, ())
    second: Path = (operator, "second", "raised")
    agree(51, GRADIENTS, refusing, second, "same", (operator, "raised"))
    for party in ("torch-tape", "torch-graph", *STYLES):
        place = (operator, "second")
        if party not in refusing and operator not in OF_A_CONSTANT:
            agree(51, GRADIENTS, (party,), place, TORCH, place, SUMS)
for operator in sorted(OF_A_CONSTANT):
    leave_out(
        51, GRADIENTS, (operator, "second"), "0: what is recorded is what rounding leaves of it"
    )

for framework, finder in {"mindspore": TAPE, TORCH: TORCH}.items():
    for part in ("chosen", "moved"):
        agree(53, LISTED, (framework,), (part,), finder, (part,))
agree(54, "schedules.piecewise", ("mindspore",), ("type",), TAPE, ("type",))
for optimizer in ("nn SGD", "nn Momentum", "nn Adam", "experimental SGD", "experimental Adam"):
    agree(57, DECAY, ("mindspore",), (optimizer, "default", EVERY), FORM, ("none of four",))
for optimizer in ("torch SGD", "torch Adam"):
    agree(57, DECAY, (TORCH,), (optimizer, "default", EVERY), FORM, ("none of four",))
STATE = "training.told"
agree(59, STATE, ("mindspore",), ("nn", "state_dict"), TAPE, ("names",))
agree(59, STATE, ("mindspore",), ("experimental", "has", "state_dict"), TAPE, ("experimental has",))
for module in ("nn", "experimental"):
    refusal = (module, "load_state_dict", "raised")
    agree(59, STATE, ("mindspore",), refusal, TAPE, ("loads", module, "raised"))
agree(59, STATE, (TORCH,), ("torch", "load_state_dict"), TORCH, ("loads",))
for style, finder in {"graph": GRAPH, "tape": TAPE}.items():
    refusal = (style, "ApplyMomentum, as printed", "raised")
    agree(60, "training.momentum", ("mindspore",), refusal, finder, ("fused", "raised"))
    agree(
        60, "training.scaled_step", ("mindspore",), (style, "raised"), finder, ("scaled", "raised")
    )
    reduced: Path = ("ranks", EVERY, "routes", style, "value_and_grad and DistributedGradReducer")
    agree(61, RANKS, ("mindspore",), reduced, FORM, ("mean on each",))
agree(63, "schedules.lists", ("mindspore",), ("piecewise constant",), FORM, ("in lists",))
GROUP_RATES = "schedules.group_rates"
for kind in ("number", "list", "Cell"):
    place = ("get_lr_parameter", kind, 0, "kind")
    agree(65, GROUP_RATES, ("mindspore",), place, TAPE, ("kinds", kind, "kind"))
lists_shape: Path = ("get_lr_parameter", "list", 0, "shape")
agree(65, GROUP_RATES, ("mindspore",), lists_shape, TAPE, ("kinds", "list", "shape"))
refusal = ("param_groups", "nn", "raised")
agree(65, GROUP_RATES, ("mindspore",), refusal, TAPE, ("param_groups", "raised"))
agree(65, GROUP_RATES, ("mindspore",), ("param_groups", "experimental"), TAPE, ("experimental",))
SCALED = "training.loss_scale"
agree(66, SCALED, ("nn",), ("divided by hand, decayed",), FORM, ("scaled, decayed",))
for party, finder in {"experimental": TAPE, TORCH: TORCH}.items():
    agree(66, SCALED, (party,), ("scaled", "raised"), finder, ("named", "raised"))
agree(71, EVALUATED, (TORCH,), ("evaluation", "before"), FORM, ("at the start",))
agree(71, EVALUATED, (TORCH,), ("evaluation", "running mean"), FORM, ("running mean",))
for framework in FRAMEWORKS:
    for part in ("minimum", "maximum", "std"):
        agree(72, WEIGHTS, (framework,), ("lstm bias", part), FORM, ("lstm", part), SAMPLED)
for part in ("minimum", "maximum"):
    place = ("embedding weight", part)
    agree(72, WEIGHTS, ("keras",), place, FORM, ("embedding in Keras", part), SAMPLED)
for container in ("list", "tuple", "ParameterList"):
    agree(74, CONTAINERS, (TORCH,), (container, "value"), FORM, ("value",))
detached: Path = ("cpu", "array of the detached written")
agree(79, WRITING, (TORCH,), detached, TORCH, ("array of the detached",))
agree(79, WRITING, (TORCH,), detached, FORM, ("written",))
agree(82, ARGUMENTS, (TORCH,), ("weights", "Parameter"), TORCH, ("weights", "Parameter"))
agree(88, "networks.not_trained", STYLES, ("saved",), "same", ("saved",))
agree(88, "networks.not_trained", (TAPE,), ("changed",), TAPE, ("changed to",))
agree(91, TOLD, STYLES, ("structure",), FORM, ("structure",))
agree(94, LIMIT, EVERYWHERE, ("steep", "value_is_finite"), FORM, ("loss is finite",))
for row in (22, 70):
    style = TAPE if row == 22 else GRAPH
    agree(row, "tape-life.reused", (style,), ("inputs",), FORM, ("inputs",))
for moment, ours in {
    "by itself": "nodes outside",
    "inside a gradient": "nodes inside",
}.items():
    agree(23, FORWARD, (TAPE,), (moment, "nodes"), TAPE, (ours,))
for moment, ours in {
    "by itself": "by itself",
    "inside a gradient": "inside",
    "inside a gradient, under _no_grad": "under _no_grad",
}.items():
    agree(24, FORWARD, (TAPE,), (moment, "nodes"), TAPE, ("nodes", ours))
for path, ours in {"inputs times 1": "positive", "inputs times -1": "negative"}.items():
    agree(27, BRANCH, (TAPE,), (path, "tape"), TAPE, (ours,))
    for question in (BRANCH, "stages.other_values"):
        agree(27, question, (GRAPH,), (path, "compiled again"), GRAPH, ("compiled again",))
agree(28, "stages.gradient_passes", (GRAPH,), ("passes", -1, "update"), GRAPH, ("update",))
for part in ("forward", "backward", "update"):
    place = ("passes", -1, part)
    agree(28, "stages.training_passes", (GRAPH,), place, GRAPH, ("step", part))
agree(28, "stages.training_passes", (GRAPH,), ("kernels",), GRAPH, ("step", "all"))
agree(
    37,
    "devices.moves",
    ("mindspore",),
    ("set_device_again", "raised"),
    TAPE,
    ("set again", "raised"),
)
agree(40, "operators.inference", ENGINES, ("inference", 2), FORM, ("output",))
trained: Path = ("trainable=True, training", "output")
agree(42, STATES, ("keras",), trained, TORCH, ("batch", "output"), SUMS)
reversed_shape: Path = ("ops.transpose(x, (3, 2, 1, 0))", "shape")
agree(44, AXES, ("keras",), reversed_shape, FORM, ("reversed", "shape"))
agree(45, POOLS, ("torch-graph",), refuses_same, TORCH, ("compiled", "raised"))
for row, layer in {49: "convolution", 50: "dense"}.items():
    for framework, finder in {"mindspore": TAPE, TORCH: TORCH}.items():
        agree(row, INITIAL, (framework,), ("has_bias", layer), finder, ("by default",))
    leave_out(row, f"{INITIAL}.keras", ("has_bias", layer), "is read off Keras' signature")
agree(56, "schedules.by_hand", (TORCH,), ("cosine",), FORM, ("cosine that turns",))
centralized: Path = ("nn", "grad_centralization, rows of 16", "raised")
agree(58, "training.groups", ("mindspore",), centralized, TAPE, ("centralized", "raised"))
for part in ("minimum", "maximum", "std"):
    agree(72, WEIGHTS, ("keras",), ("lstm bias", part), FORM, ("lstm bias in Keras", part))
agree(75, "gradients.sampler", (TAPE,), ("without", "gradient"), FORM, ("without",))
undrawn: Path = ("without", "raised")
agree(75, "gradients.function", ("torch-tape",), undrawn, TORCH, undrawn)
refused_too_early: Path = ("without", "stop_gradient too early", "raised")
agree(81, OUTPUTS, (TORCH,), refused_too_early, TORCH, ("stopped before", "raised"))

# Figures that no program finds

UNSEEN = "None: nothing can be asked of a compiled graph, and the page says so"
for part in ("saved", "nodes"):
    for moment in ("by itself", "inside a gradient"):
        for row in (23, 24):
            leave_out(row, f"{FORWARD}.{GRAPH}", (moment, part), UNSEEN)
leave_out(21, STEP_GRAPHS, (EVERY, EVERY, "plumbing"), "builds tuples and orders effects")
COUNTED = "counts what this project's own recording sees; the other engines' counts are compared"
leave_out(26, f"{NESTED}.{TAPE}", ("by order", EVERY, "tape"), COUNTED)
leave_out(26, f"{NESTED}.torch-graph", ("by order", EVERY, "joint"), COUNTED)
for part in ("forward", "backward", "update", "graphs"):
    leave_out(27, f"{BRANCH}.{GRAPH}", ("inputs times 1", part), "of several graphs of one program")
leave_out(
    28, "stages.gradient_passes", ("passes", EVERY), "of passes before the last, by their sum"
)
leave_out(83, "training.stateful", (EVERY, "dispatched"), COUNTED)
DRAWN = "drawn at random: how many or which differs from run to run"
leave_out(33, MODES, ("training", "dropout_zeros"), DRAWN)
leave_out(40, "operators.inference", ("training",), DRAWN)
for part in ("output", "gradient"):
    leave_out(51, "operators.dropout_mask", (part,), DRAWN)
leave_out(61, f"{RANKS}.torch", ("ranks", EVERY, "after_step_own_seed"), DRAWN)
for part in ("minimum", "maximum"):
    for framework in FRAMEWORKS:
        leave_out(72, f"{WEIGHTS}.{framework}", ("embedding weight", part), DRAWN)
leave_out(
    39, "networks.compilations", ("lengths",), "the number of lengths that the question gives"
)
HERE = "names the device of the machine"
for row, question, names in (
    (37, "devices.moves", ("target",)),
    (73, "devices.context", ("here",)),
    (73, "devices.context", ("kinds",)),
    (79, WRITING, ("target",)),
    (79, WRITING, ("device",)),
):
    leave_out(row, question, names, HERE)
leave_out(61, f"{RANKS}.torch", ("ranks", EVERY, "printed"), "needs an accelerator")
AS_THE_GUIDE = "the guide's statements, which the measurement runs as they are"
for party in ("nn", TORCH):
    leave_out(66, f"{SCALED}.{party}", ("as printed",), AS_THE_GUIDE)
leave_out(
    75, "gradients.function.torch-graph", (EVERY, "raised"), "numpy inside: Dynamo takes no part"
)
for part in ("target", "dtypes", "strides"):
    leave_out(77, "operators.ascend_operators", (part,), WITHOUT_PROGRAM[77])
