"""How far results and nodes move, from runs made by hand with known movements."""

import numpy as np
import pytest

from explorer.engines.noise import DRAWS, MOST_EXAMPLES, drawn_leaves, noisy_graphs, result_noise
from explorer.model.arrays import AnyArray, unpack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, Node, Output
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured, Result
from explorer.numeric.summaries import summarise
from tests.support.results import answer, raised

ONES = np.ones(2, np.float32)
REQUEST = CaseRequest(NetRequest(scenario="", engine="torch-tape"), GradCase("grad", (0, 1)))


def leaf(*numbers: float) -> Result:
    return answer(np.array(numbers, np.float32), structure="dx")


def movement(plain: Result, *kinds: list[Result]) -> list[float]:
    (noise,) = result_noise(plain, kinds).leaves
    return [round(float(moved), 6) for moved in unpack(noise.movement)]


def test_movements_of_one_kind_are_averaged_as_squares_and_kinds_are_added_up() -> None:
    plain, moved, still = leaf(1, 2), leaf(4, 2), leaf(1, 2)
    assert movement(plain, [moved]) == [3, 0]
    assert movement(plain, [moved, still]) == [round(4.5**0.5, 6), 0]
    assert movement(plain, [moved], [leaf(1, 6)]) == [3, 4]
    assert movement(plain, [moved], [leaf(5, 2)]) == [5, 0]


def test_a_run_without_an_answer_or_of_another_form_is_left_out() -> None:
    noise = result_noise(leaf(1, 2), [[raised(), leaf(1, 2, 3), leaf(4, 2)]])
    assert noise.runs == 1
    assert unpack(noise.leaves[0].movement).tolist() == [3, 0]


def test_what_becomes_finite_by_rounding_alone_has_an_infinite_level() -> None:
    assert movement(leaf(np.nan, 1, np.inf), [leaf(np.nan, np.inf, np.inf)]) == [0, np.inf, 0]


def test_the_noise_of_what_has_no_answer_is_its_error() -> None:
    noise = result_noise(raised("TypeError"), [[leaf(1)]])
    assert noise.leaves == ()
    assert noise.error
    assert noise.error.type == "TypeError"


def test_what_moves_with_the_random_numbers_depends_on_them() -> None:
    def answering(request: CaseRequest) -> Result:
        # The numbers drawn change the result once in so many runs.
        return answer(ONES, ONES * (1 + (request.net.draw == DRAWS)))

    assert drawn_leaves(answer(ONES, ONES), answering, REQUEST) == ("dy",)


def captured(*arrays: AnyArray, op: str = "mul") -> Captured:
    outputs = [Output(array.shape, "float32", summarise(array)) for array in arrays]
    node = Node(id="n0", op=op, kind="op", phase="forward", outputs=tuple(outputs))
    graph = GradGraph(engine="torch-tape", case="", stage="tape", nodes=(node,), edges=())
    return Captured((graph,), leaf(1))


def levels(plain: Captured, *runs: Captured) -> list[float | None]:
    (graph,) = noisy_graphs(plain, [runs]).graphs
    return [output.noise for output in graph.nodes[0].outputs]


def test_the_level_of_a_node_is_a_root_mean_square_over_its_elements() -> None:
    zeros, moved = np.zeros(4, np.float32), np.array([2, 0, 0, 0], np.float32)
    assert levels(captured(zeros, zeros), captured(moved, zeros)) == [1.0, 0.0]


def test_the_rounding_of_masks_hides_no_level() -> None:
    """One unit in the last place of -1e9 is 64."""
    plain = np.array([-1e9, 1, 2, 3], np.float32)
    assert levels(captured(plain), captured(plain + np.array([64, 3e-7, 0, 0], np.float32))) == [
        pytest.approx(3e-7 / 3**0.5, rel=0.3)
    ]
    # What moves by more than its own rounding is no mask, and a tensor of one number has no masks.
    assert levels(captured(plain), captured(plain + np.array([6400, 0, 0, 0], np.float32))) == [
        3200.0
    ]
    assert levels(captured(plain[:1]), captured(plain[:1] + np.float32(64))) == [64.0]


def test_a_large_tensor_is_known_by_its_order_statistics() -> None:
    rows = np.linspace(0, 1, 5000, dtype=np.float32)
    (level,) = levels(captured(rows), captured(rows + np.float32(0.5)))
    assert level == pytest.approx(0.5)


def examples_levels(plain: AnyArray, *runs: AnyArray) -> list[float]:
    (graph,) = noisy_graphs(captured(plain), [list(map(captured, runs))]).graphs
    return [round(level, 6) for level in graph.nodes[0].outputs[0].levels]


def test_an_example_that_moves_far_less_than_all_has_a_level_of_its_own() -> None:
    plain = np.ones((2, 8), np.float32)
    moved = plain + np.array([[4], [0]], np.float32)
    assert examples_levels(plain, moved) == [4, 0]
    assert examples_levels(plain, moved, plain) == [round(8**0.5, 6), 0]
    near = plain + np.array([[4], [0.01]], np.float32)
    assert examples_levels(plain, near) == []
    # Too few elements tell nothing of an example, and many examples are too much to keep.
    assert examples_levels(plain[:, :7], moved[:, :7]) == []
    many = np.ones((MOST_EXAMPLES + 1, 8), np.float32)
    assert examples_levels(many, np.concatenate([moved[:1], many[1:]])) == []
    # An example that ceases to be finite may move as all do.
    lost = np.concatenate([moved, plain[:1] * np.inf]).astype(np.float32)
    three = np.ones((3, 8), np.float32)
    assert examples_levels(three, lost) == [4, 0, round(8**0.5, 6)]


def test_a_run_that_took_another_way_is_left_out() -> None:
    zeros, moved = np.zeros(4, np.float32), np.ones(4, np.float32)
    other = captured(zeros + 5, op="add")
    assert levels(captured(zeros), other, captured(moved)) == [1.0]
    assert noisy_graphs(captured(zeros), [[other]]).graphs == ()


def test_an_element_that_ceases_to_be_finite_leaves_the_noise_of_the_others_and_is_no_noise() -> (
    None
):
    plain = captured(np.array([1.0, 2.0, 4.0, 5.0]))
    moved = captured(np.array([1.5, np.inf, np.nan, 5.5]))
    assert levels(plain, moved) == [0.5]
    # Where no element stays finite, nothing is known, in one run of several too.
    lost = captured(np.array([np.nan, np.inf, np.nan, np.inf]))
    assert levels(plain, lost) == [None]
    assert levels(plain, moved, lost) == [None]
    # A mask that stays finite says nothing of the numbers beside it.
    masked = captured(np.array([1.0, 1.0, 1.0, -1e9]))
    assert levels(masked, captured(np.array([np.nan, np.nan, np.nan, -1e9]))) == [None]
    same = captured(np.array([np.inf, np.inf]))
    assert levels(same, same) == [0.0]


def test_what_is_drawn_anew_in_every_run_has_no_level() -> None:
    zeros, moved = np.zeros(4, np.float32), np.ones(4, np.float32)
    plain, other = captured(zeros, zeros), captured(moved, moved)
    (graph,) = noisy_graphs(plain, [[other]], again=captured(moved, zeros)).graphs
    assert [output.noise for output in graph.nodes[0].outputs] == [None, 1.0]
