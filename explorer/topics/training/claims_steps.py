"""Claims about training steps: the routes to one, ms.jit, clipping and accumulation.

Rows 16, 17, 19 to 21, 52 and 83.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.message import Message, Text
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import digits
from explorer.topics.evidence import Evidence, spaced
from explorer.topics.messages import style_name
from explorer.topics.observations import by_style, holds_or, observed, of_each, within
from explorer.topics.question import FRAMEWORKS, MINDSPORE_STYLES, PARTIES
from explorer.topics.training.figures import StatefulSteps, Trained, say, some
from explorer.topics.training.findings_routes import GRAPH, REFERENCE, TAPE
from explorer.topics.training.findings_steps import (
    PARTS,
    clipping_difference,
    clipping_of,
    parts_of,
)
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
    STATEFUL,
    STEP_CELL,
    TOPIC,
)
from explorer.topics.training.update_rules import (
    NEAR,
    States,
    accumulation_difference,
    farthest,
    list_difference,
    step_differences,
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
    loop = REFERENCE.states(evidence)
    differences = {}
    functional = evidence.records(FUNCTIONAL.by(*MINDSPORE_STYLES), Trained)
    for party, trained in functional.items():
        differences[party] = greatest_step_difference(trained.states, loop)

    near = within(differences, NEAR)
    seen = tuple(observed(say("loop_difference"), differences, "{:.1e}".format, near))
    verdict = by_style(near)
    if verdict != "depends_on_style":
        return Ruling(verdict, seen)
    return Ruling(verdict, seen, say("use_style", style=_style_of(near)))


def _style_of(right: Mapping[str, bool]) -> Text:
    """The first style in which something is right."""
    return style_name(next(PARTIES[party].style for party, is_right in right.items() if is_right))


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
    jitted = evidence.records(JIT, Trained)[TAPE]
    by_itself = evidence.records(FUNCTIONAL, Trained)[TAPE]
    difference = greatest_step_difference(jitted.states, by_itself.states)
    seconds = evidence.timings(SPEED)["mindspore"]
    is_faster = seconds["by itself"] >= expects["faster"] * seconds["ms.jit"]
    # The times are in the record alone: they vary from run to run, and a board does not.
    share = say("at_least" if is_faster else "less_than", factor=expects["faster"])
    is_same = difference <= NEAR
    seen = (
        Observation(say("jit_difference"), f"{difference:.1e}", (TAPE,), is_same),
        Observation(say("jit_time"), share, (TAPE,), is_faster),
    )
    return holds_or("does_not_hold", seen, is_same and is_faster)


@TOPIC.claim(
    21,
    "Without jit forward, backward and update are three dispatches; with it they are one graph.",
    heading="tape and graph",
    guides=("003",),
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
    counts = [
        say("count_part", count=len(operators[part]), part=say.named(part))
        for part in with_operators
    ]
    graphs_of_tape = [counts for counts in graphs["tape"] if parts_of(counts)]
    is_three_on_tape = len(with_operators) + len(graphs_of_tape) == len(PARTS)
    is_three_in_graph = len(graphs["graph"]) == len(PARTS)
    graphs_of_jit = [parts_of(counts) for counts in graphs["ms.jit"]]
    is_one_with_jit = graphs_of_jit == [list(PARTS)] and not operators["ms.jit"]
    one_by_one = say("both", names=some(counts))
    of_jit = _brief(graphs["ms.jit"])
    seen = (
        Observation(say("one_by_one"), one_by_one, (TAPE,), is_three_on_tape),
        Observation(say("graphs_compiled"), _brief(graphs["tape"]), (TAPE,), is_three_on_tape),
        Observation(say("graphs_compiled"), _brief(graphs["graph"]), (GRAPH,), is_three_in_graph),
        Observation(say("graphs_under_jit"), of_jit, ("mindspore",), is_one_with_jit),
    )
    if not is_one_with_jit:
        return Ruling("does_not_hold", seen)
    # In tape style, what is not dispatched operator by operator is compiled: the optimizer is
    # (2.10.0).
    is_three = is_three_on_tape and is_three_in_graph
    return holds_or("depends_on_style", seen, is_three)


def _brief(graphs: list[dict[str, int]]) -> Message:
    """ "2 graphs (forward and backward, 41 nodes; update, 28 nodes)"."""
    contents = []
    for counts in graphs:
        parts = say("both", names=tuple(map(say.named, parts_of(counts))))
        contents.append(say("parts_and_nodes", parts=parts, nodes=sum(counts.values())))
    return say("graphs_with", n=len(graphs), graphs=tuple(contents))


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
    loop = REFERENCE.states(evidence)
    whole: dict[str, dict[str, float]] = {}
    models, cells = evidence.records(MODEL, Trained), evidence.records(STEP_CELL, Trained)
    for style, steps in evidence.records(GUIDE_STEP, dict[str, Trained]).items():
        trained = {"Model": models[style], "TrainOneStepCell": cells[style], **steps}
        far: dict[str, float] = {}
        for route, left in trained.items():
            far[route] = greatest_step_difference(left.states, loop)
        whole[style] = far
    seen = tuple(_routes_seen(evidence, whole, loop))

    asserted = ("Model", "TrainOneStepCell", "as printed")
    right: dict[str, bool] = {}
    for style, far in whole.items():
        right[style] = max(far[name] for name in asserted) <= NEAR
    verdict = by_style(right)
    if verdict == "holds":
        return Ruling(verdict, seen)
    if verdict == "depends_on_style":
        return Ruling(verdict, seen, say("routes_in_style", style=_style_of(right)))
    return Ruling(verdict, seen, _cure(whole))


ROUTES: dict[str, Text] = {
    "Model": "Model.train",
    "TrainOneStepCell": "TrainOneStepCell",
    "as printed": say("guide_step"),
    "set_grad()": say("guide_step_set_grad"),
    "as meant": say("one_forward"),
}
"""The routes of MindSpore as a reader has them, by the names of their figures."""

KEPT = 0.9
"""The share of a running mean that one forward pass keeps."""


def _routes_seen(
    evidence: Evidence, whole: Mapping[str, dict[str, float]], loop: States
) -> Iterator[Observation]:
    """How far each route is from the loop; of the guide's step, what differs and why."""
    for route, called in ROUTES.items():
        far = of_each(whole, route)
        what = say("route_difference", route=called)
        yield from observed(what, far, "{:.2g}".format, within(far, NEAR))
        if route == "as printed":
            yield from _guide_step_seen(evidence, loop)


def _guide_step_seen(evidence: Evidence, loop: States) -> Iterator[Observation]:
    """What the guide's step leaves: its weights alone, and how often its forward pass ran."""
    weights: dict[str, float] = {}
    ratios: dict[str, float] = {}
    passes: dict[str, int] = {}
    names: dict[str, None] = {}  # an ordered set
    for style, steps in evidence.records(GUIDE_STEP, dict[str, Trained]).items():
        states = steps["as printed"].states
        weights[style] = greatest_step_difference(weights_of(states), weights_of(loop))
        ratios[style] = _mean_moved(states[0]) / _mean_moved(loop[0])
        names[farthest(states, loop)] = None
        count = _forward_passes(ratios[style])
        if count:
            passes[style] = count
    near = within(weights, NEAR)
    yield from observed(say("weights_alone"), weights, "{:.2g}".format, near)
    yield Observation(say("differs_most"), say("names", names=tuple(names)))
    yield from observed(say("mean_moved"), ratios, lambda ratio: say("times_as_far", ratio=ratio))
    yield from observed(say("forward_passes"), passes)


def _mean_moved(state: dict[str, Any]) -> float:
    """How far the running mean is from 0, where it starts."""
    return float(sum(map(abs, state["norm.running_mean"])))


def _forward_passes(ratio: float) -> int | None:
    """How many forward passes move a running mean so many times as far as one does.

    Each of them keeps KEPT of what is left of its way to the mean of the batch: two on one batch
    move it 1.9 times as far as one. None where no number of passes does.
    """
    moved = 0.0
    for count in range(1, 5):
        moved += KEPT ** (count - 1)
        if abs(ratio - moved) < 1e-3:
            return count
    return None


def _cure(whole: dict[str, dict[str, float]]) -> str:
    """The name of the advice about the guide's step, if there is one.

    There is none where another route differs too, or no change of the guide's step helps.
    """
    others = [max(far["Model"], far["TrainOneStepCell"]) for far in whole.values()]
    if max(others) > NEAR:
        return ""
    for route, advice in (("set_grad()", "set_grad"), ("as meant", "one forward")):
        if all(within(of_each(whole, route), NEAR).values()):
            return advice
    return ""


# Gradients between the backward pass and the update


@TOPIC.claim(
    16,
    "ops.clip_by_global_norm clips gradients to norm 1 by default,"
    " and to a greater norm as clip_grad_norm_ does.",
    heading="gradients",
    guides=("004", "ours"),
    sections={"004": "Gradient Cropping"},
    would="the default is 1.0, and both return the same gradients for norms 1, 5 and 20",
    asks=(CLIPPING,),
    expects={"default": 1.0, "gradients": [[3 / 13, 4 / 13], [12 / 13]]},
)
def clipping(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both frameworks clip alike and MindSpore's default norm is still the guide's.

    With changes when only the default is another.
    """
    mindspore, _ = clipping_of(evidence)
    difference = clipping_difference(evidence)
    default, by_default = mindspore.default, mindspore.by_default
    brief = [[round(value, 4) for value in gradient] for gradient in by_default]
    is_default = default == expects["default"]
    is_guides = list_difference(by_default, expects["gradients"]) <= NEAR
    is_same = difference <= NEAR
    who = ("mindspore",)
    seen = (
        Observation(say("clip_default"), str(default), who, is_default),
        Observation(say("clipped_by_default"), str(brief), who, is_guides),
        Observation(say("clip_difference"), f"{difference:.1e}", who, is_same),
    )
    if not is_same:
        return Ruling("does_not_hold", seen)
    return holds_or("holds_with_changes", seen, is_default and is_guides)


@TOPIC.claim(
    17,
    "Gradients of micro-batches add up to the whole batch's:"
    " divided by their number where the loss is a mean.",
    heading="gradients",
    guides=("004", "ours"),
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
        *_sums_seen("mean_divided", divided),
        *_sums_seen("mean_undivided", undivided, is_whole=False),
        *_sums_seen("sum_undivided", of_sum),
        *_sums_seen("divided_in_training", with_batch_norm, None),
    )
    # Where it is right not to divide, it is wrong to.
    adds_up = max(divided.values()) <= NEAR and max(of_sum.values()) <= NEAR
    if not adds_up or max(undivided.values()) <= NEAR:
        return Ruling("does_not_hold", seen)
    # Each micro-batch is normalised by its own mean and variance, not by the whole batch's.
    is_apart = max(with_batch_norm.values()) > NEAR
    return Ruling("holds", seen, "batch norm apart" if is_apart else "")


def _sums_seen(
    what: str, differences: Mapping[str, float], is_whole: bool | None = True
) -> list[Observation]:
    """How far sums of gradients are from the whole batch's; whether the statement has them near it."""
    as_stated: dict[str, bool] = {}
    if is_whole is not None:
        as_stated = {party: (far <= NEAR) == is_whole for party, far in differences.items()}
    return observed(say(what), differences, "{:.1e}".format, as_stated)


# A function with a state

STATE = ("losses", "weight", "moments", "steps_counted")
"""What a step under ms.jit must leave as a step by itself does."""


@TOPIC.claim(
    83,
    "A function with a state, such as a step with its optimizer inside, can be jitted whole.",
    heading="training",
    guides=("003",),
    would="losses, weight, moments and the count of steps are the same with and without ms.jit, and"
    " no operator is dispatched by itself under ms.jit",
    asks=(STATEFUL,),
)
def stateful(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ms.jit keeps the figures in both styles, and makes one graph of the step.

    Depends on style when it does in one.
    """
    keeps: dict[str, bool] = {}
    answers = evidence.records(STATEFUL, StatefulSteps)
    for party, steps in answers.items():
        keeps[party] = _is_kept(steps)

    seen = tuple(_compared(answers))
    verdict = by_style(keeps)
    if verdict != "depends_on_style":
        return Ruling(verdict, seen)
    return Ruling(verdict, seen, say("jit_in_style", style=_style_of(keeps)))


def _is_kept(steps: StatefulSteps) -> bool:
    """Whether the step leaves the same under ms.jit, where nothing is dispatched by itself."""
    if steps.error:
        return False
    # In graph style the dispatch cannot be observed.
    return _difference(steps) <= NEAR and not steps.jitted.dispatched


def _difference(steps: StatefulSteps) -> float:
    differences = []
    for field in STATE:
        jitted, by_itself = getattr(steps.jitted, field), getattr(steps.by_itself, field)
        differences.append(greatest_difference(jitted, by_itself))
    return max(differences)


def _compared(answers: Mapping[str, StatefulSteps]) -> Iterator[Observation]:
    """What both ways left, or what one of them raised."""
    differences: dict[str, str] = {}
    as_stated: dict[str, bool] = {}
    left: dict[str, dict[str, str]] = {field: {} for field in STATE[1:]}
    for party, steps in answers.items():
        if steps.error:
            differences[party], as_stated[party] = steps.error, False
            continue
        differences[party] = f"{_difference(steps):.1e}"
        as_stated[party] = _difference(steps) <= NEAR
        for field, texts in left.items():
            texts[party] = digits(getattr(steps.jitted, field))
    yield from observed(say("state_difference"), differences, expected=as_stated)
    for field, texts in left.items():
        yield from observed(say(f"{spaced(field)} under ms.jit"), texts)
    for party, steps in answers.items():
        count = steps.jitted.dispatched
        if not steps.error and count is not None:
            by_itself, who = str(steps.by_itself.dispatched), (party,)
            yield Observation(say("operators_dispatched"), by_itself, who)
            yield Observation(say("operators_under_jit"), str(count), who, not count)
