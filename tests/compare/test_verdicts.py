"""The verdict on a case, and whether a scenario expects it."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.results.comparison import BesideOracle
from explorer.compare.results.verdicts import (
    judge,
    judged_results,
    with_expectation,
    without_divergence,
)
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph
from explorer.model.report import ORACLE, CaseReport
from explorer.model.results import (
    Estimate,
    LeafNoise,
    Obstacle,
    OracleResult,
    Outcome,
    Result,
    ResultNoise,
)
from explorer.numeric.differences import directions
from explorer.scenario.declaration import ExpectedDifference, Tolerance
from explorer.words.cases import reason
from explorer.words.coverage import where_they_differ
from explorer.words.groups import worded_answers
from explorer.words.headlines import headline
from tests.support.computed_graphs import one_input
from tests.support.results import FINE, NO_ORACLE, answer, raised, values
from tests.support.tables import rows

CASE = GradCase("grad", 0)

TAPE = ExpectedDifference(("tape",), "a tape sums over both uses")


def judged(
    results: dict[str, Result], *expected: ExpectedDifference, oracle: OracleResult = NO_ORACLE
) -> CaseReport:
    return judge(CASE, results, oracle, expected)


def test_failing_everywhere_is_agreement_and_failing_somewhere_is_not() -> None:
    everywhere = judged({"mindspore-graph": raised(), "torch-tape": raised("TypeError")})
    assert (everywhere.verdict, everywhere.expected) == ("all_raise", True)
    somewhere = judged({"mindspore-graph": FINE, "torch-tape": raised("TypeError")})
    assert (somewhere.verdict, somewhere.expected) == ("some_raise", False)
    assert somewhere.greatest is not None
    assert somewhere.greatest.what == "outcome"
    assert somewhere.greatest.engines == ("mindspore-graph", "torch-tape")
    assert "TypeError" in somewhere.greatest.detail


def test_engines_that_cannot_answer_are_left_out() -> None:
    alone = judged({"torch-tape": FINE, "torch-graph": Result(outcome="unsupported")})
    assert (alone.verdict, alone.expected) == ("not_compared", True)
    assert (alone.in_torch_table, alone.in_mindspore_table) == (None, None)


@pytest.mark.parametrize(("outcome", "words"), [("crashed", "crashed"), ("timed_out", "timed out")])
def test_a_lost_worker_is_never_expected(outcome: Outcome, words: str) -> None:
    report = judged({"torch-tape": FINE, "torch-graph": Result(outcome=outcome)})
    assert not report.expected
    assert reason(report) == f"torch-graph {words}"


def test_every_engine_whose_worker_was_lost_is_named() -> None:
    lost: dict[str, Outcome] = {"torch-tape": "crashed", "torch-graph": "crashed"}
    results = {name: Result(outcome=outcome) for name, outcome in lost.items()}
    assert (
        reason(judged({"mindspore-tape": FINE, **results})) == "torch-tape and torch-graph crashed"
    )
    results["torch-graph"] = Result(outcome="timed_out")
    assert reason(judged(results)) == "torch-tape crashed; torch-graph timed out"


def parted() -> dict[str, Result]:
    """Tapes that agree, and graphs that agree on something else."""
    doubled = answer(values() * 2, values())
    return {
        "mindspore-graph": FINE,
        "mindspore-tape": doubled,
        "torch-tape": doubled,
        "torch-graph": FINE,
    }


def test_an_expected_difference_between_styles_is_reported_with_its_reason() -> None:
    report = judged(parted(), TAPE)
    assert (report.verdict, report.expected, reason(report)) == ("differs", True, TAPE.reason)
    assert not judged(parted()).expected


def test_an_expected_difference_excuses_no_other() -> None:
    report = judged(parted() | {"torch-tape": answer(values() * 3, values())}, TAPE)
    assert not report.expected
    assert "mindspore-tape and torch-tape disagree" in reason(report)


def test_an_expected_difference_that_is_not_there_is_unexpected() -> None:
    report = judged({"mindspore-graph": FINE, "torch-tape": FINE}, TAPE)
    assert not report.expected
    assert "should differ" in reason(report)


def test_an_expected_difference_is_not_asked_of_a_case_that_fails_everywhere() -> None:
    assert judged({"mindspore-graph": raised(), "torch-tape": raised()}, TAPE).expected


def test_an_expected_refusal_is_a_difference_too() -> None:
    report = judged({"mindspore-graph": FINE, "torch-tape": raised()}, TAPE)
    assert (report.verdict, report.expected, reason(report)) == ("some_raise", True, TAPE.reason)


def test_the_reason_of_an_expectation_is_given_only_where_it_parts_two_answers() -> None:
    of_one = ExpectedDifference(("torch-tape",), "its own rule")
    of_none_here = ExpectedDifference(("jax",), "the rule of another")
    moved = answer(values() * 2, values())
    report = judged({"torch-tape": moved, "torch-graph": FINE}, of_one, of_none_here)
    assert (report.expected, report.reason) == (True, "its own rule")


def test_an_oracle_that_does_not_judge_is_not_missed() -> None:
    alike = answer(np.full((2, 3), np.nan, np.float32), values())
    oracle = OracleResult("ok", (Estimate("dx", pack(np.ones((2, 3)))),))
    expected = ExpectedDifference(("mindspore", "jax"), "a root at zero")
    results = {"mindspore-graph": alike, "jax-tape": alike}
    report = judged(results, expected, oracle=oracle)
    assert (report.oracle_agrees, report.expected) == (None, True)


# The oracle

RIGHT = values("float64")
CONFIRMING = OracleResult("ok", (Estimate("dx", pack(RIGHT)), Estimate("dy", pack(RIGHT))))


def test_the_oracle_catches_a_wrong_answer_that_all_engines_share() -> None:
    good, wrong = answer(RIGHT, RIGHT), answer(RIGHT * 1.01, RIGHT)
    report = judged({"torch-tape": good, "torch-graph": good}, oracle=CONFIRMING)
    assert (report.expected, report.oracle_agrees) == (True, True)
    report = judged({"torch-tape": wrong, "torch-graph": wrong}, oracle=CONFIRMING)
    assert (report.verdict, report.expected, report.oracle_agrees) == ("match", False, False)


def test_engines_that_disagree_are_named_two_by_two_and_the_oracle_is_none_of_them() -> None:
    names = ("mindspore-graph", "mindspore-tape", "torch-tape")
    moved = answer(values() * 2, values())
    report = judged(dict(zip(names, (FINE, moved, FINE), strict=True)), oracle=CONFIRMING)
    assert report.oracle_agrees is False
    assert report.apart == (names[:2], names[1:])


@pytest.mark.parametrize(
    ("answers", "sides"), rows(__file__, "test_both_sides_of_a_difference_are_named_whole")
)
def test_both_sides_of_a_difference_are_named_whole(answers: str, sides: str) -> None:
    """Each engine's answer is its factor, "!" an error and "-" none; the oracle's factor is 2."""
    letters = {
        "A": "mindspore-graph",
        "B": "mindspore-tape",
        "C": "torch-tape",
        "D": "torch-graph",
        "O": ORACLE,
        "AB": "both mindspore engines",
        "CD": "both torch engines",
    }
    results = {}
    for name, factor in zip(letters.values(), answers, strict=False):
        if factor != "-":
            moved = raised() if factor == "!" else answer(values() * int(factor), values())
            results[name] = moved
    oracle = OracleResult("ok", (Estimate("dx", pack(values("float64") * 2)),))
    told = reason(judged(results, oracle=oracle)).removesuffix(
        "; the scenario declares no such difference"
    )
    for letter, name in letters.items():
        told = told.replace(name, letter)
    assert told == sides


def test_an_oracle_that_is_expected_to_disagree_is_seen_to() -> None:
    expected = ExpectedDifference((ORACLE,), "the gradient is custom")
    for factor, is_expected in ((2, True), (1, False)):
        results = dict.fromkeys(("torch-tape", "torch-graph"), answer(RIGHT * factor, RIGHT))
        assert judged(results, expected, oracle=CONFIRMING).expected == is_expected


@pytest.mark.parametrize(("factor", "agrees"), [(1.0, True), (1.05, False)])
@pytest.mark.parametrize("name", ["dx", "dy"])
def test_leaves_that_the_oracle_varies_together_are_added_up(
    name: str, factor: float, agrees: bool
) -> None:
    random = np.random.default_rng(1)
    right = {"dx": random.standard_normal((6, 5)), "dy": random.standard_normal(7)}
    along = np.zeros(4)
    for leaf, gradient in right.items():
        along += directions(leaf, 4, gradient.shape).reshape(4, -1) @ gradient.ravel()
    oracle = OracleResult("ok", (Estimate("dx … dy", pack(along), 4, 0.0, ("dx", "dy")),))
    given = {**right, name: right[name] * factor}
    whole = answer(*given.values())
    assert BesideOracle(whole, oracle).agrees is agrees
    assert BesideOracle(whole, oracle, drawn=(name,)).agrees is None
    assert not BesideOracle(answer(given["dx"], structure="dx"), oracle).agrees


def test_the_oracles_directions_catch_one_wrong_element_in_a_large_leaf() -> None:
    right = np.random.default_rng(1).standard_normal((40, 30))
    rows = directions("dx", 16, right.shape)
    estimate = Estimate("dx", pack(rows.reshape(16, -1) @ right.ravel()), 16)
    wrong = right.copy()
    wrong[7, 7] += 1.0
    oracle = OracleResult("ok", (estimate,))
    for array, agrees in ((right, True), (wrong, False)):
        report = judged({"torch-tape": answer(array, structure="dx")}, oracle=oracle)
        assert report.oracle_agrees is agrees


@pytest.mark.parametrize(("moved", "agrees"), [(0.001, False), (0.1, True)])
def test_along_directions_only_what_was_varied_is_judged_and_has_noise(
    moved: float, agrees: bool
) -> None:
    right = values("float64")
    smooth = np.abs(right) > 1
    rows = (directions("dx", 4, right.shape) * smooth).reshape(4, -1)
    kinks = Obstacle("kinks", int((~smooth).sum()))
    along = pack(rows @ right.ravel())
    estimate = Estimate("dx", along, 4, smooth=pack(smooth), obstacles=(kinks,))
    given = np.where(smooth, right * 1.1, 7.0)
    noise = {"dx": np.full(right.shape, moved)}
    oracle = OracleResult("ok", (estimate,))
    assert bool(BesideOracle(answer(given, structure="dx"), oracle, noise).agrees) is agrees
    assert BesideOracle(answer(np.where(smooth, right, 7.0), structure="dx"), oracle).agrees


# The graphs


def scaled(engine: str, factor: float) -> GradGraph:
    """A net that multiplies its input by a number."""
    return one_input(engine, lambda g, x: g.op("Mul", lambda x: factor * x, x))


@pytest.mark.parametrize(
    ("engines", "is_expected"),
    [(("mindspore-graph", "torch-tape"), True), (("torch-tape", "mindspore-tape"), False)],
)
def test_a_divergence_is_expected_where_its_engines_are_to_differ(
    engines: tuple[str, str], is_expected: bool
) -> None:
    report = judged(parted(), TAPE)
    apart = align(scaled(engines[0], 1.0), scaled(engines[1], 2.0))
    assert apart.divergence
    assert with_expectation(apart, report, (TAPE,)).expected is is_expected
    assert not with_expectation(apart, report, ()).expected
    same = align(scaled(engines[0], 1.0), scaled(engines[1], 1.0))
    assert with_expectation(same, report, ()).expected


def moving(dx: float) -> ResultNoise:
    movement = np.full(FINE.leaves[0].value.shape, dx, np.float32)
    return ResultNoise((LeafNoise("dx", pack(movement)),), runs=3)


@pytest.mark.parametrize(("moved", "unjudged"), [(0.01, ()), (0.5, ()), (9.0, ("dx",))])
def test_a_result_as_noisy_as_it_is_great_cannot_be_judged(
    moved: float, unjudged: tuple[str, ...]
) -> None:
    parties = "torch-tape", "mindspore-tape"
    noise = dict.fromkeys(parties, moving(moved))
    results = {parties[0]: FINE, parties[1]: answer(values() * 2, values())}
    report = judge(CASE, results, NO_ORACLE, noise=noise)
    assert judged_results(report, parties, noise).unjudged == unjudged


@pytest.mark.parametrize(("moved", "is_named"), [(0.5, False), (0.01, True)])
def test_graphs_do_not_part_where_the_noise_of_their_results_says_that_these_are_the_same(
    moved: float, is_named: bool
) -> None:
    # Results from 1.5 to 3 that differ by 3 at most: 4 and 212 times the noise of both sides.
    noise = {"torch-tape": moving(moved), "mindspore-tape": moving(moved)}
    results = {"torch-tape": FINE, "mindspore-tape": answer(values() * 2, values())}
    report = judge(CASE, results, NO_ORACLE, noise=noise)
    assert (report.verdict == "differs") is is_named
    parties = "torch-tape", "mindspore-tape"
    alike = judged_results(report, parties, noise).alike
    assert alike == ({"dy"} if is_named else {"dx", "dy"})
    # The graphs' own results are called out; one that is no part of the answer they judge alone.
    graphs = scaled("torch-tape", 1.0), scaled("mindspore-tape", 2.0)
    assert align(*graphs, alike=alike).divergence
    assert align(*graphs, alike=["out"]).differing == ()
    assert align(*graphs, alike=["out"]).divergence is None


def test_what_is_drawn_or_nested_otherwise_is_not_known_to_be_alike() -> None:
    parties = "torch-tape", "mindspore-tape"
    assert judged_results(compared(FINE), parties).alike == {"dy"}
    bare = answer(values(), structure="dx")
    assert judged_results(compared(bare), parties).alike == set()
    assert judged_results(compared(raised()), parties).alike == set()


def test_a_tolerance_is_for_what_differs_by_more_than_the_noise() -> None:
    noise = {"torch-tape": moving(0.5), "mindspore-tape": moving(0.5)}
    rough = Tolerance("rough", rtol=0.1, leaves=("dy",))
    near = answer(values() * 2, values() * np.float32(1.01))
    results = {"torch-tape": FINE, "mindspore-tape": near}
    report = judge(CASE, results, NO_ORACLE, noise=noise, tolerances=(rough,))
    assert (report.verdict, report.expected) == ("close", True)
    apart = align(scaled("torch-tape", 1.0), scaled("mindspore-tape", 2.0))
    assert apart.divergence
    assert with_expectation(apart, report, (), (rough,), noise).expected
    assert not with_expectation(apart, report, (), (rough,)).expected


def test_no_divergence_is_named_from_a_graph_that_recording_altered() -> None:
    apart = align(scaled("torch-tape", 1.0), scaled("mindspore-tape", 2.0))
    assert apart.divergence
    altered = without_divergence(apart, {"mindspore-tape"})
    assert (altered.seen, altered.differing) == ((), ())
    assert altered.altered == ("mindspore-tape",)
    assert altered.expected
    assert not altered.is_same
    assert where_they_differ(altered) == (
        "not judged: recording changed the results of mindspore-tape, whose graph shows another"
        " computation"
    )
    assert without_divergence(apart, {"torch-graph"}) == apart


# Random numbers


def noise_of(**drawn: tuple[str, ...]) -> dict[str, ResultNoise]:
    """The noise of engines that draw random numbers for some leaves; "_" stands for "-"."""
    return {name.replace("_", "-"): ResultNoise(drawn=leaves) for name, leaves in drawn.items()}


DRAWN_BY_BOTH = noise_of(torch_tape=("dx",), mindspore_tape=("dx",))
OTHER_DX = answer(values() * 2, values())
OTHER_DY = answer(values(), values() * 2)


def compared(
    other: Result, noise: dict[str, ResultNoise] = DRAWN_BY_BOTH, oracle: OracleResult = NO_ORACLE
) -> CaseReport:
    return judge(CASE, {"torch-tape": FINE, "mindspore-tape": other}, oracle, noise=noise)


def test_values_that_depend_on_random_numbers_on_both_sides_are_not_compared() -> None:
    report = compared(OTHER_DX)
    assert (report.verdict, report.expected, report.drawn) == ("match", True, ("dx",))
    assert compared(OTHER_DY).verdict == "differs"


def test_values_that_depend_on_random_numbers_on_one_side_differ() -> None:
    report = compared(OTHER_DX, noise_of(torch_tape=("dx",)))
    assert (report.verdict, report.expected, report.drawn) == ("differs", False, ())


@pytest.mark.parametrize("array", [values()[:2], values("float64")])
def test_shapes_and_dtypes_are_compared_whatever_is_drawn(array: AnyArray) -> None:
    assert compared(answer(array, values())).verdict == "differs"


def test_a_case_of_which_everything_is_drawn_has_a_verdict_of_its_own() -> None:
    both = noise_of(torch_tape=("dx", "dy"), mindspore_tape=("dx", "dy"))
    report = compared(answer(values() * 2, values() * 3), both)
    assert (report.verdict, report.expected, report.drawn) == ("drawn", True, ("dx", "dy"))


def test_the_oracle_leaves_out_what_pytorch_s_net_draws() -> None:
    def oracle(dx: float, dy: float) -> OracleResult:
        estimates = Estimate("dx", pack(values() * dx)), Estimate("dy", pack(values() * dy))
        return OracleResult("ok", estimates)

    assert compared(FINE, oracle=oracle(9, 1)).oracle_agrees is True
    assert compared(FINE, oracle=oracle(1, 9)).oracle_agrees is False
    assert compared(FINE, noise_of(mindspore_tape=("dx",)), oracle(9, 1)).oracle_agrees is False
    all_drawn = noise_of(torch_tape=("dx", "dy"), mindspore_tape=("dx", "dy"))
    report = compared(FINE, all_drawn, oracle(9, 9))
    assert (report.oracle_agrees, report.expected) == (None, True)


def test_the_oracle_allows_an_engine_without_noise_of_its_own_that_of_another() -> None:
    moved = LeafNoise("dx", pack(np.full(FINE.leaves[0].value.shape, 1e-2, np.float32)))
    oracle = OracleResult("ok", (Estimate("dx", pack(values() + 0.1)),))
    results = {"torch-graph": FINE, "mindspore-tape": FINE}
    known = {"mindspore-tape": ResultNoise((moved,), runs=3)}
    assert judge(CASE, results, oracle, noise={}).oracle_agrees is False
    assert judge(CASE, results, oracle, noise=known).oracle_agrees is True


def test_a_divergence_is_expected_where_a_tolerance_covers_all_that_is_not_drawn() -> None:
    rough = Tolerance("rough", rtol=0.1, leaves=("dy",))
    near = answer(values() * 2, values() * np.float32(1.01))
    far = answer(values() * 2, values() * np.float32(1.2))
    apart = align(scaled("torch-tape", 1.0), scaled("mindspore-tape", 2.0))
    assert apart.divergence
    for other, noise, is_expected in (
        (near, DRAWN_BY_BOTH, True),
        (near, noise_of(torch_tape=("dx",)), False),
        (far, DRAWN_BY_BOTH, False),
    ):
        report = compared(other, noise)
        assert with_expectation(apart, report, (), (rough,)).expected is is_expected


def test_what_noise_keeps_from_being_judged_is_among_the_oracle_s_obstacles() -> None:
    numbers = np.array([1.0, 0.5])
    given = answer(numbers, structure="dx")
    oracle = OracleResult("ok", (Estimate("dx", pack(numbers)),))
    noise = {"torch-tape": ResultNoise((LeafNoise("dx", pack(np.array([0.1, 0.1]))),))}
    report = judge(CASE, {"torch-tape": given, "torch-graph": given}, oracle, noise=noise)
    assert report.oracle_agrees is None
    assert report.oracle.estimates[0].obstacles == (Obstacle("noise", 2, (0,)),)
    assert headline(report).endswith(
        "cannot judge this case: rounding alone moves them by as much as their own size (dx[0] and 1"
        " more)"
    )


def test_the_oracle_of_each_net_has_what_the_noise_of_its_engines_hides() -> None:
    numbers = np.array([1.0, 0.5])
    of_torch = OracleResult("ok", (Estimate("dx", pack(numbers)),))
    oracle = msgspec.structs.replace(
        of_torch, beside=(msgspec.structs.replace(of_torch, framework="jax"),)
    )
    results = dict.fromkeys(("torch-tape", "jax-tape"), answer(numbers, structure="dx"))
    noise = {name: ResultNoise((LeafNoise("dx", pack(np.full(2, 0.1))),)) for name in results}
    report = judge(CASE, results, oracle, noise=noise)
    (beside,) = report.oracle.beside
    assert beside.estimates == report.oracle.estimates
    assert beside.estimates[0].obstacles == (Obstacle("noise", 2, (0,)),)


@pytest.mark.parametrize(("off", "spread"), [(1e-8, None), (0.03, 0.03)])
def test_a_group_whose_answers_do_not_read_alike_says_how_far_apart_they_are(
    off: float, spread: float | None
) -> None:
    results = {
        "torch-tape": answer(np.array([1.0, 2.0]), structure="dx"),
        "torch-graph": answer(np.array([1.0, 2.0 + off]), structure="dx"),
        "mindspore-tape": answer(np.array([9.0, 2.0]), structure="dx"),
    }
    noise = {name: ResultNoise((LeafNoise("dx", pack(np.full(2, 0.01))),)) for name in results}
    report = judge(CASE, results, NO_ORACLE, noise=noise)
    together, alone = report.groups
    assert (together.engines, alone.spread) == (("torch-tape", "torch-graph"), None)
    found = together.spread and together.spread.abs
    assert found == (None if spread is None else pytest.approx(spread))
    text = worded_answers(report)[0].text
    said = " in torch-tape, within the group up to 0.03 apart at dx[1]"
    assert text == "[1, 2]" + (said if spread else "")
