"""Claims about what a forward records and keeps, and what a gradient is made of.

Rows 18, 22 to 25, 29 to 31, and 70.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.model.message import Text, message
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised, said
from explorer.topics.cells import NONE, yes_or_no
from explorer.topics.evidence import Evidence, flat_numbers
from explorer.topics.observations import by_style, observed, ruling_by_style
from explorer.topics.tape_life.figures import (
    BY_ITSELF,
    FIRST_ALONE,
    INSIDE,
    TOLERANCE,
    Accumulated,
    CalledAgain,
    Forward,
    Life,
    Recorded,
    Reused,
    SecondBackward,
    all_equal,
    close,
    count,
    forwards,
    left,
    lives,
    name_of,
    one_after_the_other,
    only_leaf,
    refusal,
    shown,
    unwrapped,
)
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    ANSWERS,
    CALLED_AGAIN,
    EXTRA_OUTPUT,
    FORWARD_ALONE,
    GUIDE,
    LIFETIME,
    MINDSPORE,
    REUSED,
    SECOND_BACKWARD,
    SWITCHES,
    TAPES,
    TOPIC,
    VARIABLE,
)

TORCH, TAPE, GRAPH = "torch-tape", "mindspore-tape", "mindspore-graph"

CALLED_AGAIN_IN_MINDSPORE = CALLED_AGAIN.by(*MINDSPORE)


def measured(name: str, **values: Any) -> Text:
    """What an observation of a claim is of."""
    return message(f"tape_life.measured.{name}", **values)


# What a gradient is made of


@TOPIC.claim(
    18,
    "An extra output that a net returns shifts its gradient unless stop_gradient or has_aux is"
    " used.",
    heading="gradients",
    guides=("003",),
    would=(
        "the weights' gradient differs with the extra output, and equals the loss's own with either"
        " remedy, in both styles"
    ),
    asks=(EXTRA_OUTPUT.by(*MINDSPORE),),
    expects={"ways": ["has_aux", "extra output stopped"]},
)
def extra_output(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the extra output moves the gradient, and both ways to cut it off put it back.

    In both styles of MindSpore; it is outdated where the output moves nothing in either.
    """
    shifts: dict[str, bool] = {}
    put_back: dict[str, bool] = {}
    moved: dict[str, float] = {}
    for engine in MINDSPORE:
        ways = evidence[EXTRA_OUTPUT][engine]
        alone = ways[FIRST_ALONE]
        moved[engine] = greatest_difference(ways["every output"], alone)
        shifts[engine] = moved[engine] > TOLERANCE
        put_back[engine] = all(close(ways[way], alone) for way in expects["ways"])

    by_up_to = measured("moved_by_up_to")
    seen = list(observed(by_up_to, moved, "{:.3g}".format, shifts))
    for way in expects["ways"]:
        is_back: dict[str, bool] = {}
        for engine in MINDSPORE:
            ways = evidence[EXTRA_OUTPUT][engine]
            is_back[engine] = close(ways[way], ways[FIRST_ALONE])
        what = measured("as_first_alone", way=name_of(way))
        seen.extend(observed(what, is_back, yes_or_no, is_back))
    if not any(shifts.values()) and all(put_back.values()):
        return Ruling("outdated", tuple(seen))
    right = {engine: shifts[engine] and put_back[engine] for engine in MINDSPORE}
    return ruling_by_style(right, tuple(seen))


@TOPIC.claim(
    22,
    "What grad makes of a function is a function again, which can be called with any inputs.",
    heading="gradients",
    guides=("003", "004", "000"),
    sections={
        "004": "mindspore.ops.GradOperation",
        "000": "MindSpore Automatic Differentiation",
    },
    would=(
        "one gradient function gives 3x² for three inputs, one of them of another shape, in both"
        " styles"
    ),
    asks=(REUSED,),
)
def reusable(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when what ``grad`` returns can be called with other values and shapes.

    In both styles of MindSpore.
    """
    works: dict[str, bool] = {}
    seen: list[Observation] = []
    reused = evidence.records(REUSED, Reused)
    for engine, function in reused.items():
        pairs = list(zip(function.inputs, function.gradients, strict=True))
        is_right = all(close(gradient, derivative_of_cube(x)) for x, gradient in pairs)
        works[engine] = function.callable and is_right
    # Both styles were called with the same inputs.
    for place, x in enumerate(reused[MINDSPORE[0]].inputs):
        gradients: dict[str, Any] = {}
        for engine, function in reused.items():
            gradients[engine] = function.gradients[place]
        is_right_of: dict[str, bool] = {}
        for engine, gradient in gradients.items():
            is_right_of[engine] = close(gradient, derivative_of_cube(x))
        what = measured("call", number=place + 1, x=shown(x))
        seen.extend(observed(what, gradients, shown, is_right_of))
    return ruling_by_style(works, tuple(seen))


def derivative_of_cube(x: Any) -> Any:
    """3x² of nested lists."""
    if isinstance(x, list):
        return [derivative_of_cube(element) for element in x]
    return 3 * x * x


@TOPIC.claim(
    29,
    "In PyTorch a Variable x that is doubled and shifted, and sent back with the doubled value, has"
    " its gradient in x.grad.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "PyTorch Automatic Differentiation"},
    would="x.grad is 2 or, with respect to the leaf, 4 everywhere (the figures are ours), and"
    " Variable is a type of its own",
    asks=(VARIABLE,),
    expects={"x.grad": [[2.0, 2.0], [2.0, 2.0]], "leaf.grad": [[4.0, 4.0], [4.0, 4.0]]},
)
def variable(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when x.grad is a gradient of the printed chain and a Variable is a type of its own.

    With changes when a Variable is a Tensor, outdated when there is none.
    """
    figures = evidence[VARIABLE]["torch-tape"]
    printed, gradient = figures["x.grad as printed"], figures["leaf.grad"]
    right = (expects["x.grad"], expects["leaf.grad"])
    has_gradient = not raised(printed) and printed is not None
    is_right = has_gradient and any(close(printed, figure) for figure in right)
    exists = figures["torch.autograd.Variable exists"]
    is_derivative = close(gradient, expects["leaf.grad"])
    answer = said(printed) if raised(printed) else shown(printed)
    warned = "; ".join(figures["warned"]) or NONE
    rows: tuple[tuple[str, Text, bool | None], ...] = (
        ("as_printed", answer, is_right),
        ("warning", warned, None),
        ("leaf_grad", shown(gradient), is_derivative),
        ("type", figures["type"], not figures["is a Tensor"]),
        ("exists", yes_or_no(exists), bool(exists)),
    )
    seen: list[Observation] = []
    for name, value, as_stated in rows:
        seen.append(Observation(measured(f"variable.{name}"), value, (TORCH,), as_stated))
    if not exists:
        return Ruling("outdated", tuple(seen))
    if not is_derivative:
        return Ruling("does_not_hold", tuple(seen))
    if not is_right:
        return Ruling("does_not_hold", tuple(seen), "lost leaf")
    # Variable and Tensor were merged in PyTorch 0.4; the name was kept.
    if figures["is a Tensor"]:
        return Ruling("holds_with_changes", tuple(seen))
    return Ruling("holds", tuple(seen))


@TOPIC.claim(
    31,
    "PyTorch sums the gradients of a tensor that is passed twice; MindSpore keeps the two"
    " positions apart.",
    heading="tape and graph",
    guides=("ours",),
    would=(
        "by the first argument PyTorch gives the sum of both uses, and MindSpore one use, whatever"
        " the style"
    ),
    asks=(ANSWERS,),
    expects={"summed": [2.0, 4.0, 6.0], "apart": [1.0, 2.0, 3.0]},
)
def same_tensor(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch sums and MindSpore keeps apart in every style.

    Else it depends on the style, or is not so.
    """
    sums = set()
    apart = set()
    gradients: dict[str, Any] = {}
    as_stated: dict[str, bool] = {}
    for engine, answers in evidence[ANSWERS].items():
        gradient = gradients[engine] = only_leaf(answers["by a"])
        stated = expects["apart"] if engine in MINDSPORE else expects["summed"]
        as_stated[engine] = close(gradient, stated)
        if close(gradient, expects["summed"]):
            sums.add(engine)
        elif close(gradient, expects["apart"]):
            apart.add(engine)

    seen = tuple(observed(measured("same_tensor"), gradients, shown, as_stated))
    if sums == {"torch-tape", "torch-graph"} and apart == set(MINDSPORE):
        return Ruling("holds", seen)
    # The guides take a contrast of styles for one of frameworks.
    if sums == set(TAPES) and apart == {"torch-graph", "mindspore-graph"}:
        return Ruling("depends_on_style", seen)
    return Ruling("does_not_hold", seen)


# What a forward records and keeps, and what a second backward does


@TOPIC.claim(
    23,
    "PyTorch records for the backward while the forward runs; MindSpore's graph mode records"
    " nothing there, and PyNative mode records like PyTorch.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "MindSpore Automatic Differentiation"},
    would=(
        "a forward leaves nodes on a tape in PyTorch and in MindSpore's tape style, and none in"
        " graph style"
    ),
    asks=(LIFETIME.on(GUIDE), FORWARD_ALONE.on(GUIDE)),
)
def recording(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both tapes record in every forward and graph style in none.

    It holds with changes when MindSpore's tape records inside a gradient function alone.
    """
    all_lives = lives(evidence)
    torch_nodes = len(all_lives[TORCH].nodes or ())
    tape, graph = (forwards(evidence[FORWARD_ALONE][engine]) for engine in MINDSPORE)
    # Inside a gradient function, or MindSpore would have no reason to record anything.
    tape_nodes, graph_nodes = tape[INSIDE].nodes or 0, graph[INSIDE].nodes or 0
    tape_nodes_alone = tape[BY_ITSELF].nodes or 0

    unobserved = measured("saves_unobserved", nodes=graph_nodes)
    rows: tuple[tuple[str, Text, str, bool], ...] = (
        ("nodes_of_forward", str(torch_nodes), TORCH, torch_nodes > 0),
        ("nodes_in_gradient", str(tape_nodes), TAPE, tape_nodes > 0),
        ("nodes_by_itself", str(tape_nodes_alone), TAPE, tape_nodes_alone > 0),
        ("nodes_in_gradient", unobserved, GRAPH, graph_nodes == 0),
    )
    seen: list[Observation] = []
    for name, value, engine, as_stated in rows:
        seen.append(Observation(measured(name), value, (engine,), as_stated))
    seen += _kept_by_engine(all_lives)
    if not torch_nodes or not tape_nodes or graph_nodes:
        return Ruling("does_not_hold", tuple(seen))
    if not tape_nodes_alone:
        return Ruling("holds_with_changes", tuple(seen))
    return Ruling("holds", tuple(seen))


def _kept_by_engine(all_lives: Mapping[str, Life]) -> list[Observation]:
    """What each engine keeps when its forward has ended, in tensors and bytes."""
    ends: dict[str, Text] = {}
    for engine, life in all_lives.items():
        kept = life.after_forward
        tensors = count("tensors", kept.tensors)
        ends[engine] = measured("tensors_and_bytes", tensors=tensors, bytes=kept.bytes + kept.own)
    return observed(measured("kept"), ends)


@TOPIC.claim(
    24,
    "PyTorch has no_grad to switch the recording off; MindSpore needs no such switch.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "torch.no_grad"},
    would=(
        "no_grad brings PyTorch's saved tensors to none, and a forward of MindSpore leaves no tape"
        " to begin with"
    ),
    asks=(SWITCHES, FORWARD_ALONE.on(GUIDE)),
)
def switching_off(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ``no_grad`` saves recording in PyTorch and MindSpore needs no such switch.

    It needs none where a gradient function calls a forward that leaves no tape, in either style.
    """
    torch = evidence.records(SWITCHES, dict[str, Recorded])["torch-tape"]
    plain, no_grad = torch["plain"].saved or 0, torch["no_grad"].saved or 0
    alone = {engine: forwards(evidence[FORWARD_ALONE][engine]) for engine in MINDSPORE}
    recorded = [engine for engine in MINDSPORE if alone[engine][INSIDE].nodes]
    saved, saved_without = measured("saved"), measured("saved_under_no_grad")
    seen = (
        Observation(saved, str(plain), (TORCH,), plain > 0),
        Observation(saved_without, str(no_grad), (TORCH,), not no_grad),
        *_forwards_seen(alone),
        _public_switch(evidence),
    )
    if not plain or no_grad or len(recorded) == len(MINDSPORE):
        return Ruling("does_not_hold", seen)
    if not recorded:
        return Ruling("holds", seen)
    if alone[recorded[0]][BY_ITSELF].nodes:
        return Ruling("depends_on_style", seen)
    return Ruling("depends_on_style", seen, "recorded inside")


def _forwards_seen(alone: Mapping[str, Mapping[str, Forward]]) -> Iterator[Observation]:
    """What a forward of MindSpore leaves in each way."""
    ways: dict[str, dict[str, Forward]] = {}
    for engine, forwards_of_engine in alone.items():
        for way, forward in forwards_of_engine.items():
            ways.setdefault(way, {})[engine] = forward
    for way, forwards_left in ways.items():
        as_stated: dict[str, bool] = {}
        if way == INSIDE:
            as_stated = {engine: each.nodes == 0 for engine, each in forwards_left.items()}
        what = measured("forward_leaves", way=name_of(way))
        yield from observed(what, forwards_left, left, as_stated)


def _public_switch(evidence: Evidence) -> Observation:
    """Whether MindSpore has a switch like PyTorch's."""
    exists = yes_or_no(evidence[FORWARD_ALONE][TAPE]["mindspore.no_grad"])
    return Observation(measured("public_no_grad"), exists, ("mindspore",))


@TOPIC.claim(
    25,
    "A second backward fails in PyTorch unless the graph is retained; in MindSpore the gradient is"
    " called again.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "retain_graph"},
    would=(
        "PyTorch raises without retain_graph and runs with it; MindSpore's function gives equal"
        " numbers each time"
    ),
    asks=(SECOND_BACKWARD, CALLED_AGAIN_IN_MINDSPORE),
)
def second_backward(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch refuses a second backward and MindSpore's function can be called again.

    PyTorch refuses unless the graph is retained; the function gives equal numbers every time.
    """
    ways = evidence.records(SECOND_BACKWARD, dict[str, SecondBackward])["torch-tape"]
    second = ways["plain"].second
    runs, fails = message("tape_life.runs"), message("tape_life.fails_too")
    outcome = refusal(second) if raised(second) else runs
    retained = ways["retain_graph"].second == "ran"

    equal: dict[str, bool] = {}
    called: dict[str, Any] = {}
    for engine, again_called in evidence.records(CALLED_AGAIN_IN_MINDSPORE, CalledAgain).items():
        called[engine] = again_called.gradients
        equal[engine] = all_equal(again_called.gradients)
    once, again = measured("second_backward"), measured("second_with_retain_graph")
    seen = (
        Observation(once, outcome, (TORCH,), raised(second)),
        Observation(again, runs if retained else fails, (TORCH,), retained),
        *observed(measured("one_function_again"), called, one_after_the_other, equal),
    )
    # The first backward frees what the tape saved, so the second must have nothing to read.
    if not raised(second):
        return Ruling("outdated", seen)
    if not retained:
        return Ruling("does_not_hold", seen)
    return ruling_by_style(equal, seen)


@TOPIC.claim(
    30,
    "PyTorch adds gradients up in .grad until they are zeroed; MindSpore returns them and adds"
    " nothing up.",
    heading="tape and graph",
    guides=("000", "002"),
    sections={"000": "PyTorch Automatic Differentiation", "002": "Basic usage"},
    would=(
        "two backwards give once and twice the gradient in PyTorch, and MindSpore's function the"
        " same one each time"
    ),
    asks=(ACCUMULATION, CALLED_AGAIN_IN_MINDSPORE),
    expects={"once": [2.0, 4.0, 6.0], "twice": [4.0, 8.0, 12.0]},
)
def accumulating(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ``.grad`` adds up until it is zeroed, and MindSpore returns equal gradients.

    ``.grad`` must add up to the guide's figures, and ``zero_grad()`` leave nothing or zeros.
    """
    accumulated = evidence.records(ACCUMULATION, Accumulated)["torch-tape"]
    sums_in_grad, cleared = accumulated.sums, accumulated.cleared
    added_up = close(list(map(unwrapped, sums_in_grad)), [expects["once"], expects["twice"]])

    steady: dict[str, bool] = {}
    has_grad = False
    returned: dict[str, Any] = {}
    for engine, again in evidence.records(CALLED_AGAIN_IN_MINDSPORE, CalledAgain).items():
        gradients = again.gradients
        steady[engine] = all(close(unwrapped(gradient), expects["once"]) for gradient in gradients)
        has_grad = has_grad or not raised(again.in_weight)
        returned[engine] = gradients
    two, zeroed = measured("grad_after_two"), measured("grad_after_zeroing")
    has_none, in_order = _is_nothing(cleared), one_after_the_other(sums_in_grad)
    seen = (
        Observation(two, in_order, (TORCH,), added_up),
        Observation(zeroed, _left_in_grad(cleared), (TORCH,), has_none),
        *observed(measured("repeated_calls"), returned, one_after_the_other, steady),
        Observation(measured("parameter_grad"), yes_or_no(has_grad), MINDSPORE, not has_grad),
    )
    if not has_none or not added_up:
        return Ruling("does_not_hold", seen)
    if by_style(steady) == "holds" and has_grad:
        return Ruling("holds_with_changes", seen)
    return ruling_by_style(steady, seen)


def _is_nothing(gradient: Any) -> bool:
    """Whether zeroing left no gradient, or zeros."""
    return gradient is None or not any(flat_numbers(gradient))


def _left_in_grad(gradient: Any) -> str:
    return str(gradient) if gradient is None else shown(unwrapped(gradient))


@TOPIC.claim(
    70,
    "In graph style MindSpore's gradient graph saves no intermediate results, and so can be called"
    " again and again.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "MindSpore Automatic Differentiation"},
    would=(
        "nothing but inputs and parameters is kept when the forward part of the graph has ended,"
        " and every call of it is right"
    ),
    asks=(LIFETIME.by(GRAPH).on(GUIDE), REUSED.by(GRAPH)),
)
def no_results_kept(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when the forward part hands nothing of its own to the backward, and calls are right."""
    kept = lives(evidence, LIFETIME.by(GRAPH))[GRAPH].after_forward
    reused = evidence.records(REUSED.by(GRAPH), Reused)[GRAPH]
    # The net is x³.
    derivatives = derivative_of_cube(reused.inputs)
    pairs = zip(reused.gradients, derivatives, strict=True)
    right = all(close(gradient, derivative) for gradient, derivative in pairs)
    own_and_others = measured(
        "own_and_others",
        tensors=count("tensors", kept.tensors),
        bytes=kept.bytes,
        others=kept.own,
    )
    calls = one_after_the_other(reused.gradients)
    seen = (
        Observation(measured("kept_by_forward"), own_and_others, (GRAPH,), not kept.bytes),
        Observation(measured("calls_of_one"), calls, (GRAPH,), right),
    )
    if not right:
        return Ruling("does_not_hold", seen)
    if kept.bytes:
        return Ruling("does_not_hold", seen, "kept results")
    return Ruling("holds", seen)
