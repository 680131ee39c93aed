"""The figures of the explorer's records that the independent programs find too."""

from typing import NamedTuple

Path = tuple[str | int, ...]
"""The way to a figure through nested dicts and lists; EVERY stands for each element of a list or dict."""

EVERY = "*"

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
    agree(row, call, (*STYLES, "torch-tape"), ("values",), FORM, ("values",))
    agree(row, call, STYLES, ("values",), "same", ("values",))
    agree(row, call, STYLES, ("structure",), "same", ("structure",))

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
    agree(19, route, (party,), ("states", -1), TORCH, ("last",), SUMS)
for row, route in {19: "training.functional", 20: "training.jit"}.items():
    agree(row, route, (TAPE,), ("losses",), TORCH, ("losses",), SUMS)
    agree(row, route, (TAPE,), ("states", -1), TORCH, ("last",), SUMS)
agree(21, "training.graphs", ("mindspore",), ("ms.jit", 0, "update"), TAPE, ("updates in it",))
agree(21, "training.graphs", ("mindspore",), ("tape", 0, "update"), TAPE, ("updates by itself",))

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
refused = ("loop_to_tensor.graph", "gradient", "raised")
agree(39, "networks.slices", ("mindspore",), refused, GRAPH, ("loop_to_tensor",))

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

# Optimizers and schedules

last = ("states", -1)
for route in ("model", "step_cell"):
    agree(52, f"training.{route}", STYLES, last, TORCH, ("one forward",), SUMS)
GUIDE_STEP = "training.guide_step"
agree(52, GUIDE_STEP, STYLES, ("as printed", *last), TORCH, ("two forwards",), SUMS)
agree(52, GUIDE_STEP, STYLES, ("set_grad()", *last), TORCH, ("two forwards",), SUMS)
agree(52, GUIDE_STEP, STYLES, ("as meant", *last), TORCH, ("one forward",), SUMS)

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
