"""Which arguments are tried where two ops differ, and when one of them is called the cause."""

import math

import msgspec
import numpy as np
import pytest

from explorer.compare.causes.candidates import Suspect, of_one_step, suspects_at
from explorer.compare.causes.choice import as_kept, attempts_at, cause_of
from explorer.compare.graphs.sameness import Sameness, apart_if_same, apart_in_any_order, room_of
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import SMALL, AnyArray
from explorer.model.causes import (
    Cause,
    Edit,
    Form,
    FromNode,
    FromThere,
    InsertOperator,
    ReplaceOperator,
    Rewire,
    SetArguments,
    Trial,
    Tried,
    form_of,
    is_usual,
)
from explorer.model.divergence import OtherOp, Place
from explorer.model.graph import Arguments, Edge, GradGraph, Layer, Node, Output
from explorer.numeric.summaries import summarise
from explorer.operators.table import rows_named
from explorer.operators.translation import translated
from tests.support.divergence_records import end, other_value, row
from tests.support.handmade_graph import HandmadeGraph
from tests.support.narrowing import present

OWN = np.array([1.0, 2.0, 4.0], np.float32)
OTHER = np.array([1.5, 2.5, 3.0], np.float32)


def output(array: AnyArray, noise: float | None = 1e-7) -> Output:
    return Output(array.shape, "float32", summarise(array), noise)


def graph(engine: str, op: str, value: AnyArray, arguments: Arguments) -> GradGraph:
    made = HandmadeGraph()
    made.add(op, value=value, noise=1e-7, scope="norm", arguments=arguments, line=0)
    layers = {"norm": Layer("nn.Norm", arguments)}
    return msgspec.structs.replace(made.record(engine=engine), layers=layers)


LEFT = graph("torch-tape", "aten.norm", OWN, {"eps": 1e-5, "momentum": 0.1, "training": True})
RIGHT = graph("mindspore-graph", "Norm", OTHER, {"epsilon": 1e-3, "momentum": 0.9})

DIVERGENCE = other_value("n0", "n0")


def test_large_values_of_which_figures_alone_are_known_are_not_the_same() -> None:
    large = output(np.linspace(0, 1, SMALL + 1, dtype=np.float32))
    assert apart_if_same(large, large, Sameness(1.0)) is None
    assert apart_if_same(output(OWN), output(OWN), Sameness(0.0)) == 0.0


def suspect() -> Suspect:
    found, *_ = suspects_at(DIVERGENCE, GraphView(LEFT), GraphView(RIGHT))
    return found


def arguments_of(trial: Trial) -> Arguments:
    """The other arguments that are tried; {} where something else is."""
    given = [edit.arguments for edit in trial.edits if isinstance(edit, SetArguments)]
    return given[0] if given else {}


def tried(**values: AnyArray) -> Tried:
    """What the trials give: the op's own value, but for those of one argument of that name."""
    given = map(arguments_of, suspect().trials)
    made = (values.get(next(iter(it)), OWN) if len(it) == 1 else OWN for it in given)
    return Tried(tuple((output(value),) for value in made))


def test_the_first_trial_changes_nothing_and_the_others_take_what_the_other_side_has() -> None:
    first, *others = suspect().trials
    assert first == Trial(("n0",))
    single = [it for it in map(arguments_of, others) if len(it) == 1]
    assert {"eps": 1e-3} in single
    assert {"momentum": 0.9} in single
    assert {"training": False} in single
    assert {"eps": 1e-5} not in single


OTHER_TAPE = graph("mindspore-tape", "Norm", OWN, {"epsilon": 1e-5})


@pytest.mark.parametrize(
    ("left", "right", "sides"),
    [
        (LEFT, RIGHT, ["left", "right"]),
        (RIGHT, LEFT, ["right", "left"]),
        (OTHER_TAPE, RIGHT, ["left", "right"]),
        (LEFT, msgspec.structs.replace(LEFT, engine="torch-graph"), ["left", "right"]),
    ],
)
def test_pytorchs_op_is_tried_before_mindspores_and_the_left_one_of_two_before_the_right(
    left: GradGraph, right: GradGraph, sides: list[str]
) -> None:
    assert [
        found.side for found in suspects_at(DIVERGENCE, GraphView(left), GraphView(right))
    ] == sides


def test_where_pytorch_has_several_ops_mindspores_one_is_tried_with_what_all_of_them_take() -> None:
    # n0 is read twice, and n3 reads what is made on both ways; n4 comes behind.
    ways = (("n0", "n1"), ("n0", "n2"), ("n1", "n3"), ("n2", "n3"), ("n3", "n4"))
    op = msgspec.structs.replace(LEFT.nodes[0], arguments={"other": 0.25})
    ops = tuple(msgspec.structs.replace(op, id=f"n{number}") for number in range(5))
    edges = tuple(Edge(origin, target, 0, 0) for origin, target in ways)
    left = msgspec.structs.replace(LEFT, nodes=ops, edges=edges)
    divergence = other_value("n0", "n0", rows=(row("n3", count=4), row()))
    found = suspects_at(divergence, GraphView(left), GraphView(RIGHT))[-1]
    assert (found.side, found.node.op, found.other.id) == ("right", "Norm", "n3")
    assert {"epsilon": 0.25} in [arguments_of(trial) for trial in found.trials]


def test_a_row_whose_end_is_not_known_and_other_kinds_of_divergences_are_not_tried() -> None:
    divergence = other_value("n0", "n0", rows=(row(count=2), row()))
    assert suspects_at(divergence, GraphView(LEFT), GraphView(RIGHT)) == ()
    places = (Place(label="a"), Place(label="b"))
    other = OtherOp(phase="forward", ends=(end("n0"), end("n0")), places=places)
    assert suspects_at(other, GraphView(LEFT), GraphView(RIGHT)) == ()


def test_axes_are_tried_as_one_or_as_several_as_they_are_given() -> None:
    volume = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for given, tried_too in ((0, {"axis": 2}), ((0,), {"axis": (2,)}), ((0, 1), {"axis": (1, 2)})):
        right = graph("mindspore-graph", "Sum", volume, {"axis": given})
        found = suspects_at(DIVERGENCE, GraphView(LEFT), GraphView(right))[-1]
        assert tried_too in [arguments_of(trial) for trial in found.trials]


def test_the_argument_that_gives_the_other_value_is_the_cause() -> None:
    cause = present(cause_of(suspect(), tried(eps=OTHER), LEFT, RIGHT))
    assert (cause.side, cause.own, cause.arguments) == ("left", {"eps": 1e-5}, {"eps": 1e-3})
    assert cause.greatest == 0
    assert cause.noise == pytest.approx(2e-7)
    assert [layer and layer.name for layer in cause.layers] == ["nn.Norm", "nn.Norm"]
    assert cause.tried == len(suspect().trials) - 1


def test_a_value_beyond_the_noise_is_no_proof() -> None:
    assert cause_of(suspect(), tried(eps=OTHER + np.float32(1e-4)), LEFT, RIGHT) is None
    assert cause_of(suspect(), tried(eps=OTHER + np.float32(1e-6)), LEFT, RIGHT) is not None


@pytest.mark.parametrize("noise", [None, math.inf, math.nan])
def test_noise_that_is_not_known_or_not_finite_excuses_nothing(noise: float | None) -> None:
    found = suspect()._replace(own=output(OWN, noise), target=output(OTHER, noise))
    assert cause_of(found, tried(eps=OTHER), LEFT, RIGHT) is not None
    assert cause_of(found, tried(eps=OTHER + np.float32(1e-3)), LEFT, RIGHT) is None
    spoiled = [(output(OWN + np.float32(1e-3)), *made[1:]) for made in tried(eps=OTHER).outputs]
    assert cause_of(found, Tried(tuple(spoiled)), LEFT, RIGHT) is None


def test_where_two_arguments_explain_it_neither_is_called_the_cause() -> None:
    assert cause_of(suspect(), tried(eps=OTHER, momentum=OTHER), LEFT, RIGHT) is None


def test_an_op_of_a_row_that_reads_other_values_than_the_row_makes_explains_nothing() -> None:
    nodes = (*LEFT.nodes, msgspec.structs.replace(LEFT.nodes[0], id="n1"))
    left = msgspec.structs.replace(LEFT, nodes=nodes, edges=(Edge("n0", "n1"),))
    trials = (
        Trial(("n0", "n1")),
        Trial(("n0", "n1"), (SetArguments(node="n0", arguments={"eps": 1e-3}),)),
        Trial(("n1",)),
        Trial(("n1",), (SetArguments(node="n1", arguments={"momentum": 0.9}),)),
    )
    values = output(OWN), output(OTHER)
    suspected = Suspect("left", nodes[1], RIGHT.nodes[0], *values, trials)

    def cause(*outputs: AnyArray) -> Cause | None:
        made = Tried(tuple((output(value),) for value in outputs))
        return cause_of(suspected, made, left, RIGHT)

    # Values that were put in ahead of the last op give the other side's value whatever it is given.
    first = present(cause(OWN, OTHER, OTHER, OTHER))
    assert (first.node, first.arguments, first.tried) == ("n0", {"eps": 1e-3}, 2)
    assert cause(OWN, OWN, OTHER, OTHER) is None
    last = present(cause(OWN, OWN, OWN, OTHER))
    assert (last.node, last.arguments) == ("n1", {"momentum": 0.9})
    made = Tried(tuple((output(value),) for value in (OWN, OWN, OTHER, OTHER)))
    attempts = attempts_at(suspected, made, left)
    assert (attempts.tried, attempts.fitting) == (2, ())


def test_another_operator_is_tried_and_the_other_side_s_name_decides_between_two_that_fit() -> None:
    left = graph("torch-tape", "aten.silu.default", OWN, {})
    right = graph("mindspore-graph", "ReLU", OTHER, {})
    found, *_ = suspects_at(DIVERGENCE, GraphView(left), GraphView(right))
    names = ("aten.relu.default", "aten.relu6.default")
    fitting = [(ReplaceOperator(node="n0", op=name),) for name in names]
    outputs = [(output(OTHER if trial.edits in fitting else OWN),) for trial in found.trials]
    cause = present(cause_of(found, Tried(tuple(outputs)), left, right))
    assert (cause.other_op, cause.arguments) == ("aten.relu.default", {})
    unnamed = graph("mindspore-graph", "Custom", OTHER, {})
    other, *_ = suspects_at(DIVERGENCE, GraphView(left), GraphView(unnamed))
    assert cause_of(other, Tried(tuple(outputs)), left, unnamed) is None


@pytest.mark.parametrize(("other", "is_cause"), [("Sub", True), ("AddN", False)])
def test_an_op_of_the_other_side_s_kind_is_not_replaced_by_one_of_a_kind_that_is_not_there(
    other: str, is_cause: bool
) -> None:
    left = graph("torch-tape", "aten.add.Tensor", OWN, {})
    right = graph("mindspore-graph", other, OTHER, {})
    found, *_ = suspects_at(DIVERGENCE, GraphView(left), GraphView(right))
    fitting = (ReplaceOperator(node="n0", op="aten.sub.Tensor"),)
    made = (output(OTHER if it.edits == fitting else OWN) for it in found.trials)
    cause = cause_of(found, Tried(tuple((it,) for it in made)), left, right)
    assert (cause is not None) is is_cause


def test_a_trial_that_raised_explains_nothing() -> None:
    same, *others = tried(eps=OTHER).outputs
    assert cause_of(suspect(), Tried((same, *(() for _ in others))), LEFT, RIGHT) is None


def test_what_another_step_of_a_loop_made_is_not_tried_where_pairs_may_be_a_step_apart() -> None:
    lines = ("net.py:1", "net.py:1", "net.py:2", "net.py:3")
    nodes = tuple(
        Node(id=f"n{number}", op="Add", kind="op", phase="forward", scope="", source=(line,))
        for number, line in enumerate(lines)
    )
    edges = (Edge("n0", "n3"),)
    flow = GraphView(GradGraph(engine="a", case="", stage="", nodes=nodes, edges=edges))
    edits = [(Rewire(node="n3", slots=(0,), source=FromNode(read)),) for read in ("n1", "n2")]
    trials = (Trial(("n3",)), *(Trial(("n3",), it) for it in edits))
    suspected = Suspect("left", nodes[3], nodes[3], output(OWN), output(OTHER), trials)
    assert of_one_step(suspected, flow).trials == (trials[0], trials[2])


def test_values_in_another_order_are_the_same_where_they_are_many_and_the_own_one_is_not() -> None:
    room = Sameness(1e-6)
    many = np.random.default_rng(1).standard_normal(24).astype(np.float32)
    target, own = output(many.reshape(4, 6)), output(many + 1)
    assert apart_in_any_order(output(many[::-1]), target, own, room) == 0
    assert apart_in_any_order(output(many[::-1] + 1e-3), target, own, room) is None
    # The op as it was has the same numbers, or there are few of them.
    assert apart_in_any_order(output(many[::-1]), target, output(many), room) is None
    few = np.resize(many[:15], 24)
    assert apart_in_any_order(output(few[::-1]), output(few), own, room) is None


@pytest.mark.parametrize(
    ("edit", "form"),
    [
        (Rewire(slots=(0,), source=FromThere("add")), "arguments"),
        (InsertOperator(op="pad", slots=(0,), numbers=(0, 1)), "inputs"),
    ],
)
def test_what_is_done_to_an_input_is_not_said_to_be_the_other_side_s_value(
    edit: Edit, form: Form
) -> None:
    edits = edit, SetArguments(own={"padding": (1,)}, arguments={"padding": (0,)})
    assert form_of(edits) == form
    tried = [msgspec.structs.replace(it, node="n0") for it in edits]
    assert tuple(as_kept(it, "n0") for it in tried) == edits


@pytest.mark.parametrize("name", ["torch.var", "torch.std"])
def test_what_an_operator_is_not_given_is_its_default_in_the_other_framework_s_words(
    name: str,
) -> None:
    (row,) = (row for row in rows_named(name.replace("torch", "aten")) if row.name("torch") == name)
    assert translated(row, "torch", {"correction": None})["ddof"] == 1
    assert translated(row, "torch", {"correction": 0})["ddof"] == 0
    # Where None itself is one of the values it stays: all axes.
    assert translated(row, "torch", {"dim": None, "correction": 0})["axis"] is None


@pytest.mark.parametrize(
    ("number", "is_one"),
    [(0.3172, False), (63.3, False), (0.3, True), (1 / 3, True), (2**0.5, True), (1e-5, True)],
)
def test_a_number_that_people_write_is_told_from_an_arbitrary_one(
    number: float, is_one: bool
) -> None:
    assert is_usual(number) is is_usual(-number) is is_one


def test_what_a_mask_s_number_is_rounded_by_is_no_room_for_the_others() -> None:
    scores = np.append(np.linspace(0.5, 2, 30), -1e9).astype(np.float32)
    masked, plain = output(scores, noise=20.0), output(scores[:-1], noise=1e-7)
    assert apart_if_same(masked, output(scores + 0.7, 20.0), room_of(masked, masked)) is None
    assert apart_if_same(masked, masked, room_of(masked, masked)) == 0
    assert room_of(plain, plain).base < room_of(masked, masked).base < 1


def test_the_halves_of_an_axis_are_tried_in_the_other_order_and_conditions_inverted() -> None:
    read = Node(id="n0", op="x", kind="input", phase="forward", scope="", outputs=(output(OWN),))
    condition = msgspec.structs.replace(
        read, id="n1", outputs=(Output((3, 8), "bool"), Output((2,), "float32"))
    )
    op = msgspec.structs.replace(LEFT.nodes[0], id="n2")
    edges = tuple(Edge("n1", "n2", at, at) for at in (0, 1))
    left = msgspec.structs.replace(LEFT, nodes=(read, condition, op), edges=edges)
    found, *_ = suspects_at(other_value("n2", "n0"), GraphView(left), GraphView(RIGHT))
    inserted = [
        (it.op, it.slots, it.numbers)
        for trial in found.trials
        for it in trial.edits
        if isinstance(it, InsertOperator) and it.op in ("not", "roll")
    ]
    assert ("not", (0,), ()) in inserted
    assert ("roll", (0,), (1, 4)) in inserted
    assert ("roll", (1,), (0, 1)) not in inserted, "of two places a step is the reverse"
