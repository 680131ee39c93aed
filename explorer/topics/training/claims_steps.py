"""Claims about training steps: the routes to one, ms.jit, clipping and accumulation."""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.topics.evidence import Evidence
from explorer.topics.observations import observed
from explorer.topics.question import FRAMEWORKS, MINDSPORE_STYLES
from explorer.topics.styles import SHORT_LABELS
from explorer.topics.training.differences import (
    NEAR,
    States,
    accumulation_difference,
    farthest,
    list_difference,
    step_differences,
)
from explorer.topics.training.findings_routes import GRAPH, REFERENCE, TAPE
from explorer.topics.training.findings_steps import PARTS, clipping_difference, parts_of
from explorer.topics.training.questions import (
    ACCUMULATION,
    ACCUMULATION_BATCH_NORM,
    CLIPPING,
    DISPATCHES,
    FUNCTIONAL,
    GRAPHS,
    GUIDE_STEP,
    JIT,
    LOOP,
    MODEL,
    SPEED,
    STEP_CELL,
    TOPIC,
)

# Routes to a step


def greatest_step_difference(states: States, reference: States) -> float:
    """The greatest difference of two routes over all steps."""
    return max(step_differences(states, reference))


def weights_of(states: States) -> States:
    """The states without the running statistics, which the optimizer does not touch."""
    weights = []
    for state in states:
        names = [name for name in state if "running" not in name]
        weights.append({name: state[name] for name in names})
    return weights


@TOPIC.claim(
    19,
    "value_and_grad followed by optimizer(grads) is one training step,"
    " the same as zero_grad, backward and step.",
    heading="training",
    guides=("003",),
    would="the weights agree after each of five steps",
    asks=(FUNCTIONAL.by(*MINDSPORE_STYLES), LOOP),
)
def functional_step(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the functional step leaves the weights of PyTorch's loop in both styles."""
    loop = REFERENCE.figures(evidence)["states"]
    differences = {}
    for style, party in (("graph", GRAPH), ("tape", TAPE)):
        states = evidence[FUNCTIONAL][party]["states"]
        differences[style] = greatest_step_difference(states, loop)

    seen = tuple(
        observed(
            "weights' greatest difference from PyTorch's loop over 5 steps",
            {f"mindspore-{style}": difference for style, difference in differences.items()},
            "{:.1e}".format,
            {f"mindspore-{style}": far <= NEAR for style, far in differences.items()},
        )
    )
    near = [style for style, difference in differences.items() if difference <= NEAR]
    if len(near) == len(differences):
        return Ruling(
            "holds",
            seen,
            "Use value_and_grad over optimizer.parameters, then optimizer(grads);"
            " nothing needs zeroing.",
        )
    if near:
        return Ruling(
            "depends_on_style", seen, f"Use {near[0]} style, or compare the weights step by step."
        )
    return Ruling(
        "does_not_hold", seen, "Compare the weights after one step to find where they part."
    )


@TOPIC.claim(
    20,
    "Decorating the step with ms.jit keeps its numbers and makes repeated steps faster.",
    heading="training",
    guides=("003",),
    would="the weights agree after five steps, and a repeated step takes less processor time",
    asks=(FUNCTIONAL.by(TAPE), JIT.by(TAPE), SPEED.by("mindspore")),
    expects={"faster": 1.2},
)
def jitted_step(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ms.jit leaves the weights as they are and saves the expected share of the time."""
    # In tape style, where ms.jit makes a graph of what would run operator by operator.
    difference = greatest_step_difference(
        evidence[JIT][TAPE]["states"], evidence[FUNCTIONAL][TAPE]["states"]
    )
    seconds = evidence.timings(SPEED)["mindspore"]
    is_faster = seconds["by itself"] >= expects["faster"] * seconds["ms.jit"]
    # The times themselves, which no two runs share, stand in the record alone: a board is the same twice.
    share = "at least" if is_faster else "less than"
    seen = (
        Observation(
            "weights' greatest difference with and without ms.jit after 5 steps",
            f"{difference:.1e}",
            (TAPE,),
            difference <= NEAR,
        ),
        Observation(
            "processor time of a repeated step without ms.jit, as a multiple of that with it",
            f"{share} {expects['faster']}",
            (TAPE,),
            is_faster,
        ),
    )
    if difference > NEAR:
        return Ruling(
            "does_not_hold",
            seen,
            "Compare the weights with and without ms.jit before you rely on it.",
        )
    if not is_faster:
        return Ruling(
            "does_not_hold",
            seen,
            "Measure before you decorate: here the compiled step is no faster.",
        )
    return Ruling(
        "holds",
        seen,
        "Decorate the whole step with ms.jit, and leave the first call, which compiles,"
        " out of the timing.",
    )


@TOPIC.claim(
    21,
    "Without jit forward, backward and update are three dispatches; with it they are one graph.",
    heading="tape and graph",
    guides=("ours",),
    would="three things are dispatched for a step without jit,"
    " and one compiled graph holds all three with it",
    asks=(DISPATCHES.by("mindspore"), GRAPHS),
)
def dispatches(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ms.jit makes one graph of a step that is three dispatches without it.

    Three dispatches in both styles: it depends on the style when only ms.jit's graph is so.
    """
    operators = evidence[DISPATCHES]["mindspore"]
    graphs = evidence[GRAPHS]["mindspore"]
    with_operators = [part for part in PARTS if operators[part]]
    counts = [f"{len(operators[part])} {part}" for part in with_operators]
    graphs_of_tape = [counts for counts in graphs["tape"] if parts_of(counts)]
    is_three_on_tape = len(with_operators) + len(graphs_of_tape) == len(PARTS)
    is_three_in_graph = len(graphs["graph"]) == len(PARTS)
    graphs_of_jit = [parts_of(counts) for counts in graphs["ms.jit"]]
    is_one_with_jit = graphs_of_jit == [list(PARTS)] and not operators["ms.jit"]
    one_by_one = " and ".join(counts) or "none"
    seen = (
        Observation("operators dispatched one by one", one_by_one, (TAPE,), is_three_on_tape),
        Observation("graphs compiled", _brief(graphs["tape"]), (TAPE,), is_three_on_tape),
        Observation("graphs compiled", _brief(graphs["graph"]), (GRAPH,), is_three_in_graph),
        Observation(
            "graphs compiled under ms.jit",
            _brief(graphs["ms.jit"]),
            ("mindspore",),
            is_one_with_jit,
        ),
    )

    if not is_one_with_jit:
        return Ruling("does_not_hold", seen, "Look at the graphs: the step is not one of them.")
    # In tape style, what is not dispatched operator by operator is compiled: the optimizer is
    # (2.10.0).
    if is_three_on_tape and is_three_in_graph:
        return Ruling("holds", seen, "Decorate the whole step with ms.jit to have one graph.")
    return Ruling(
        "depends_on_style",
        seen,
        "Decorate the whole step to have one graph: tape style dispatches each operator,"
        " graph style joins forward and backward.",
    )


def _brief(graphs: list[dict[str, int]]) -> str:
    """ "2 graphs (forward and backward, 41 nodes; update, 28 nodes)"."""
    contents = []
    for counts in graphs:
        parts = " and ".join(parts_of(counts))
        contents.append(f"{parts}, {sum(counts.values())} nodes")
    plural = "" if len(graphs) == 1 else "s"
    return f"{len(graphs)} graph{plural} ({'; '.join(contents)})"


@TOPIC.claim(
    52,
    "Model, TrainOneStepCell, a hand-written GradOperation step and PyTorch's loop do the same update.",
    heading="training",
    guides=("002", "000"),
    sections={"002": "Basic usage", "000": "MindSpore Automatic Differentiation"},
    would="weights and running statistics agree after each of five steps of SGD"
    " on convolution and batch norm",
    asks=(MODEL, STEP_CELL, GUIDE_STEP, LOOP),
)
def routes(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when all routes, the printed step among them, leave what PyTorch's loop leaves.

    Depends on style when they do so in one style alone.
    """
    loop = REFERENCE.figures(evidence)["states"]
    whole: dict[str, dict[str, float]] = {}
    for style in MINDSPORE_STYLES:
        steps = evidence[GUIDE_STEP][style]
        states = {
            "Model": evidence[MODEL][style]["states"],
            "TrainOneStepCell": evidence[STEP_CELL][style]["states"],
            **{name: figures["states"] for name, figures in steps.items()},
        }
        whole[style] = {name: greatest_step_difference(left, loop) for name, left in states.items()}
    seen = tuple(_routes_seen(evidence, whole, loop))

    asserted = ("Model", "TrainOneStepCell", "as printed")
    agreeing = [s for s, far in whole.items() if max(far[name] for name in asserted) <= NEAR]
    if len(agreeing) == len(whole):
        return Ruling("holds", seen, "Take whichever route reads best.")
    if agreeing:
        return Ruling(
            "depends_on_style",
            seen,
            f"Take these routes in {SHORT_LABELS[agreeing[0]]} style alone.",
        )
    return Ruling("does_not_hold", seen, _cure(whole))


ROUTES = {
    "Model": "Model.train",
    "TrainOneStepCell": "TrainOneStepCell",
    "as printed": "the printed step",
    "set_grad()": "the printed step after set_grad()",
    "as meant": "value_and_grad, then the optimizer",
}
"""The routes of MindSpore in words, by the names of their figures."""


def _routes_seen(
    evidence: Evidence, whole: Mapping[str, dict[str, float]], loop: States
) -> Iterator[Observation]:
    """How far each route is from the loop, and the printed step in its weights alone."""
    weights: dict[str, float] = {}
    ratios: dict[str, float] = {}
    names: dict[str, None] = {}  # an ordered set
    for style in whole:
        printed = evidence[GUIDE_STEP][style]["as printed"]["states"]
        weights[style] = greatest_step_difference(weights_of(printed), weights_of(loop))
        ratios[style] = _mean_moved(printed[0]) / _mean_moved(loop[0])
        names[farthest(printed, loop)] = None
    for route, called in ROUTES.items():
        far = {style: differences[route] for style, differences in whole.items()}
        near = {style: difference <= NEAR for style, difference in far.items()}
        what = f"greatest difference from PyTorch's loop, {called}"
        yield from observed(what, far, "{:.2g}".format, near)
        if route == "as printed":
            near = {style: difference <= NEAR for style, difference in weights.items()}
            yield from observed(
                f"greatest difference of the weights alone, {called}",
                weights,
                "{:.2g}".format,
                near,
            )
            yield Observation(f"what differs most after {called}", ", ".join(names))
            what = f"how far one step moves the running mean, {called}"
            yield from observed(what, ratios, "{:.3g} times as far as PyTorch's".format)


def _mean_moved(state: dict[str, Any]) -> float:
    """How far the running mean is from 0, where it starts."""
    return float(sum(map(abs, state["norm.running_mean"])))


def _cure(whole: dict[str, dict[str, float]]) -> str:
    """What to do about a printed step that parts from the loop."""
    others = [max(far["Model"], far["TrainOneStepCell"]) for far in whole.values()]
    if max(others) > NEAR:
        return "Compare the weights after one step to find where the routes part."
    if all(far["set_grad()"] <= NEAR for far in whole.values()):
        return "Call set_grad() on the cells of the printed step: its forward runs twice otherwise."
    if all(far["as meant"] <= NEAR for far in whole.values()):
        return (
            "Take loss and gradients from one ms.value_and_grad, or use TrainOneStepCell: what the"
            " printed step leaves is not what the others leave, set_grad() or not."
        )
    return "Use Model or TrainOneStepCell in place of the printed step."


# Gradients between the backward pass and the update


@TOPIC.claim(
    16,
    "ops.clip_by_global_norm clips gradients to norm 1 by default,"
    " and to any norm as clip_grad_norm_ does.",
    heading="gradients",
    guides=("004",),
    sections={"004": "Gradient Cropping"},
    would="the default is 1.0, and both return the same gradients for every norm",
    asks=(CLIPPING,),
    expects={"default": 1.0, "gradients": [[3 / 13, 4 / 13], [12 / 13]]},
)
def clipping(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both frameworks clip alike and MindSpore's default norm is still the guide's.

    With changes when only the default is another.
    """
    figures = evidence[CLIPPING]["mindspore"]
    difference = clipping_difference(evidence)
    default, by_default = figures["default"], figures["by default"]
    brief = [[round(value, 4) for value in gradient] for gradient in by_default]
    is_guides = list_difference(by_default, expects["gradients"]) <= NEAR
    seen = (
        Observation(
            "default of clip_norm", str(default), ("mindspore",), default == expects["default"]
        ),
        Observation("[[3, 4], [12]] clipped by default", str(brief), ("mindspore",), is_guides),
        Observation(
            "greatest difference from clip_grad_norm_ at every norm",
            f"{difference:.1e}",
            ("mindspore",),
            difference <= NEAR,
        ),
    )
    if difference > NEAR:
        return Ruling(
            "does_not_hold", seen, "Compare clipped gradients before you compare training runs."
        )
    if default != expects["default"] or not is_guides:
        return Ruling(
            "holds_with_changes", seen, "Name the norm: the default does not clip to 1 any more."
        )
    return Ruling(
        "holds",
        seen,
        "Pass the result on: MindSpore returns clipped gradients,"
        " while clip_grad_norm_ changes .grad and has no default norm.",
    )


@TOPIC.claim(
    17,
    "Gradients of micro-batches add up to the whole batch's:"
    " divided by their number where the loss is a mean.",
    heading="gradients",
    guides=("004",),
    sections={"004": "Gradient Accumulation"},
    would="four micro-batches' gradients sum to the whole batch's if the loss is a sum,"
    " to four times it if a mean",
    asks=(ACCUMULATION, ACCUMULATION_BATCH_NORM),
)
def accumulation(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when gradients add up: those of a sum as they are, those of a mean once divided.

    Batch norm is in inference for the verdict; what it does in training goes into the advice.
    """
    undivided, divided, of_sum, with_batch_norm = {}, {}, {}, {}
    for framework in FRAMEWORKS:
        figures = evidence[ACCUMULATION][framework]
        undivided[framework] = accumulation_difference(figures, "mean", "added")
        divided[framework] = accumulation_difference(figures, "mean", "divided")
        of_sum[framework] = accumulation_difference(figures, "sum", "added")
        in_training = evidence[ACCUMULATION_BATCH_NORM][framework]
        with_batch_norm[framework] = accumulation_difference(in_training, "mean", "divided")

    seen = (
        *_sums_seen("loss a mean, sum divided by 4", divided),
        *_sums_seen("loss a mean, not divided", undivided, is_whole=False),
        *_sums_seen("loss a sum, not divided", of_sum),
        *_sums_seen("batch norm in training, sum divided by 4", with_batch_norm, None),
    )
    # Where it is right not to divide, it is wrong to.
    if max(undivided.values()) <= NEAR and max(of_sum.values()) <= NEAR:
        return Ruling(
            "does_not_hold", seen, "Do not divide: the gradients of a mean add up as they are."
        )
    if max(divided.values()) > NEAR or max(of_sum.values()) > NEAR:
        return Ruling(
            "does_not_hold", seen, "Check the reduction of the loss: the gradients do not add up."
        )
    advice = "Divide by the number of micro-batches if the loss is a mean"
    if max(with_batch_norm.values()) > NEAR:
        # Each micro-batch is normalised by its own mean and variance, not by the whole batch's.
        advice += (
            "; batch norm in training sees each micro-batch alone, so keep it out of the comparison"
        )
    return Ruling("holds", seen, f"{advice}.")


def _sums_seen(
    what: str, differences: Mapping[str, float], is_whole: bool | None = True
) -> list[Observation]:
    """How far sums of gradients are from the whole batch's; whether they are said to be near it."""
    as_stated: dict[str, bool] = {}
    if is_whole is not None:
        as_stated = {party: (far <= NEAR) == is_whole for party, far in differences.items()}
    return observed(
        f"difference from the whole batch's gradient, {what}",
        differences,
        "{:.1e}".format,
        as_stated,
    )
