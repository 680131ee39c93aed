"""What the nets return decides whom central differences of PyTorch's net can judge."""

import msgspec
import numpy as np
import pytest

from explorer.compare.results.answers import apart_from, not_finite_alike
from explorer.compare.results.verdicts import judge
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.report import CaseReport
from explorer.model.results import Estimate, Leaf, LeafNoise, OracleResult, Result, ResultNoise
from explorer.words.cases import judged_by_oracle, stand
from explorer.words.groups import worded_answers
from explorer.words.headlines import headline
from tests.support.results import answer

MIND, TORCH = "mindspore-tape", "torch-tape"
CASE = GradCase("grad", 0)


def returned(*values: float, noise: float = 1e-7, drawn: tuple[str, ...] = ()) -> ResultNoise:
    """What a net returns."""
    array = np.array(values, np.float32)
    movement = LeafNoise("out", pack(np.full(array.shape, noise, np.float32)))
    return ResultNoise((movement,), 3, drawn=drawn, outputs=(Leaf("out", pack(array)),))


def gradient(*values: float) -> Result:
    return answer(np.array(values, np.float32), structure="dx")


def estimates(*values: float, directions: int = 0) -> OracleResult:
    return OracleResult("ok", (Estimate("dx", pack(np.array(values)), directions),))


def judged(
    gradients: dict[str, Result], oracle: OracleResult, forwards: dict[str, ResultNoise]
) -> CaseReport:
    return judge(CASE, gradients, oracle, forwards=forwards)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (returned(1.0, 2.0), returned(1.0, 2.0), False),
        (returned(1.0, 2.0), returned(1.0 + 5e-7, 2.0), False),
        (returned(1.0, 2.0), returned(1.0, 2.001), True),
        (returned(1.0, 2.0), returned(1.0, np.nan), True),
        (returned(1.0, noise=1e-2), returned(1.1, noise=1e-2), False),
        (returned(1.0), returned(5.0, drawn=("out",)), False),
        (returned(1.0), ResultNoise(), False),
    ],
)
def test_outputs_differ_by_more_than_their_noise(
    one: ResultNoise, other: ResultNoise, differ: bool
) -> None:
    assert apart_from("torch", {MIND: one, TORCH: other}) == ({"mindspore"} if differ else set())
    assert not apart_from("torch", {TORCH: one, "torch-graph": other})
    assert not apart_from("torch", {MIND: one, "jax-tape": other})


def test_where_the_nets_differ_only_pytorch_s_engines_are_judged() -> None:
    gradients = {MIND: gradient(1.5, 2.0), TORCH: gradient(1.0, 2.0)}
    oracle = estimates(1.0, 2.0)
    alike = judged(gradients, oracle, {MIND: returned(3.0), TORCH: returned(3.0)})
    assert alike.oracle_agrees is False
    assert headline(alike).endswith("net) agrees only with torch-tape")

    apart = judged(gradients, oracle, {MIND: returned(3.5), TORCH: returned(3.0)})
    assert apart.has_two_nets
    assert apart.oracle_agrees is True
    assert [group.oracle_agrees for group in apart.groups] == [None, True]
    assert apart.verdict == "differs"
    assert not apart.expected
    assert headline(apart).endswith(
        "the oracle (central differences of PyTorch's net) agrees with torch-tape; it does not judge"
        " mindspore-tape, whose net it cannot vary and whose outputs differ from those of PyTorch's net"
    )

    # Rounding that moves the other net's gradient keeps nobody from judging this one.
    noise = {MIND: ResultNoise((LeafNoise("dx", pack(np.full(2, 9.0, np.float32))),), 3)}
    outputs = {MIND: returned(3.5), TORCH: returned(3.0)}
    noisy = judge(CASE, gradients, oracle, noise=noise, forwards=outputs)
    assert [group.oracle_agrees for group in noisy.groups] == [None, True]
    assert "agrees with torch-tape; it does not judge" in headline(noisy)

    # Of what it cannot judge, its own engines are not said to be of another net.
    kinked = judged(
        gradients, OracleResult("ok", (Estimate("dx", pack(np.full(2, np.nan))),)), outputs
    )
    assert "it does not judge mindspore-tape, whose" in headline(kinked)

    # A wrong gradient of PyTorch's own net is refuted all the same.
    wrong = {MIND: gradient(1.5, 2.0), TORCH: gradient(1.2, 2.0)}
    refuted = judged(wrong, oracle, {MIND: returned(3.5), TORCH: returned(3.0)})
    assert refuted.oracle_agrees is False
    assert [group.oracle_agrees for group in refuted.groups] == [None, False]


def test_the_net_that_the_oracle_runs_says_whose_engines_it_judges() -> None:
    oracle = msgspec.structs.replace(estimates(1.0, 2.0), framework="jax")
    gradients = {MIND: gradient(1.5, 2.0), "jax-tape": gradient(1.0, 2.0)}
    apart = judged(gradients, oracle, {MIND: returned(3.5), "jax-tape": returned(3.0)})
    assert [group.oracle_agrees for group in apart.groups] == [None, True]
    assert "agrees with jax-tape; it does not judge mindspore-tape" in headline(apart)
    alike = judged(gradients, oracle, {MIND: returned(3.0), "jax-tape": returned(3.0)})
    assert [group.oracle_agrees for group in alike.groups] == [False, True]
    refuted = judged({MIND: gradient(1.5, 2.0)}, oracle, {})
    assert "the oracle (central differences of JAX's net) differs from" in headline(refuted)


def test_each_framework_s_engines_are_judged_by_its_own_net_where_that_is_varied() -> None:
    jax = "jax-tape"
    of_jax = msgspec.structs.replace(estimates(5.0, 2.0), framework="jax")
    oracle = msgspec.structs.replace(estimates(1.0, 2.0), beside=(of_jax,))
    nets = "(central differences of PyTorch's net and JAX's, each for its own engines)"
    outputs = {TORCH: returned(3.0), jax: returned(4.0)}

    # Both are right for their own net, and the third is JAX's net.
    gradients = {MIND: gradient(5.0, 2.0), TORCH: gradient(1.0, 2.0), jax: gradient(5.0, 2.0)}
    case = judged(gradients, oracle, {**outputs, MIND: returned(4.0)})
    assert (case.oracle_agrees, case.has_two_nets) == (True, False)
    assert headline(case).endswith(f"the oracle {nets} agrees")

    # Without a counterpart it is not judged.
    case = judged({**gradients, MIND: gradient(7.0, 2.0)}, oracle, {**outputs, MIND: returned(9.0)})
    assert case.has_two_nets
    assert headline(case).endswith(
        f"the oracle {nets} agrees with all but mindspore-tape; it does not judge mindspore-tape, whose"
        " net it cannot vary and whose outputs differ from those of the nets of PyTorch and JAX"
    )

    # What PyTorch's net would confirm is refuted by JAX's own, whose estimates are shown.
    wrong = judged({TORCH: gradient(1.0, 2.0), jax: gradient(1.0, 2.0)}, oracle, outputs)
    assert judged_by_oracle(wrong) == ([TORCH], [jax])
    assert worded_answers(wrong)[-1].text == "of JAX's net: dx [5, 2]"


def test_an_engine_that_is_not_judged_is_not_confirmed_beside_one_that_is_refuted() -> None:
    of_jax = msgspec.structs.replace(estimates(np.nan, np.nan), framework="jax")
    oracle = msgspec.structs.replace(estimates(1.0, 2.0), beside=(of_jax,))
    outputs = {TORCH: returned(3.0), "jax-tape": returned(4.0)}
    case = judged(dict.fromkeys(outputs, gradient(1.5, 2.0)), oracle, outputs)
    assert [(group.oracle_agrees, group.confirmed) for group in case.groups] == [(False, ())]
    assert judged_by_oracle(case) == ([], [TORCH])


def alike(*values: float) -> dict[str, Result]:
    """One gradient in both frameworks."""
    return {MIND: gradient(*values), TORCH: gradient(*values)}


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_alike_in_every_engine_is_no_disagreement(value: float) -> None:
    # In float32 exp(100) overflows on the way, and 0 times the slope of a root at 0 is nan.
    same = judged(alike(value, 2.0), estimates(3, 2), {MIND: returned(1.0), TORCH: returned(1.0)})
    assert (same.verdict, same.expected, same.oracle_agrees) == ("match", True, True)
    (found,) = same.not_finite_alike
    assert (found.leaf, found.index, found.count, found.estimate) == ("dx", (0,), 1, 3.0)
    assert not found.at_kink
    said = f"; every engine has {value} at dx[0], where the derivative is 3; the oracle (central"
    assert f"{said} differences of PyTorch's net) agrees elsewhere" in headline(same)
    assert stand(same) == "elsewhere"

    # Beside it, or in one engine alone, a wrong number is one.
    for one, other in (
        (gradient(value, 2.1), gradient(value, 2.1)),
        (gradient(value, 2.0), gradient(3.0, 2.0)),
        (gradient(3.0, 2.0), gradient(value, 2.0)),
    ):
        assert not judged({MIND: one, TORCH: other}, estimates(3, 2), {}).expected
    assert judged({TORCH: gradient(value, 2.0)}, estimates(3, 2), {}).oracle_agrees is False


def test_nan_and_the_infinities_are_not_alike() -> None:
    for one, other in ((np.inf, -np.inf), (np.inf, np.nan), (np.nan, -np.inf)):
        results = {MIND: gradient(one, 2.0), TORCH: gradient(other, 2.0)}
        case = judged(results, estimates(3, 2), {})
        assert not case.expected
        assert case.not_finite_alike == ()


def test_at_a_kink_a_nan_is_said_to_have_no_derivative() -> None:
    both = alike(np.nan, 2.0)
    kinks = pack(np.array([np.inf, 0.0]))
    (estimate,) = estimates(0, 2).estimates
    oracle = OracleResult("ok", (msgspec.structs.replace(estimate, kinks=kinks),))
    case = judged(both, oracle, {})
    assert case.expected
    assert "every engine has nan at dx[0]: a kink, without a derivative" in headline(case)


def test_along_directions_a_nan_leaves_nothing_to_judge() -> None:
    case = judged(alike(np.nan, 2.0), estimates(3, 2, 1, directions=3), {})
    assert (case.expected, case.oracle_agrees) == (True, None)
    (found,) = case.not_finite_alike
    assert (found.index, found.estimate) == ((0,), None)
    assert "every engine has nan at dx[0], where the derivative is finite" in headline(case)
    assert headline(case).endswith(
        "the oracle (central differences of PyTorch's net) can judge nothing else"
    )


def test_of_many_elements_the_first_ones_are_named() -> None:
    nan = np.nan
    case = judged(alike(nan, nan), estimates(3, 2), {})
    said = "nan at dx[0] and 1 more, where the derivative is finite: 3 at dx[0]"
    assert said in headline(case)


def test_only_what_has_an_estimate_is_not_finite_alike() -> None:
    both = alike(np.inf, 2.0)
    assert list(not_finite_alike(both, ["dx"])) == ["dx"]
    assert not_finite_alike(both, ["dy"]) == {}
    silent = judged(both, estimates(np.nan, 2), {})
    assert silent.not_finite_alike == ()


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_a_report_with_numbers_that_are_not_finite_is_stored_and_found_again(value: float) -> None:
    case = judged(alike(value, 2.0), estimates(3, 2), {})
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(case), type=CaseReport)
    assert str(again.not_finite_alike) == str(case.not_finite_alike)


def moved(noise: float) -> ResultNoise:
    return ResultNoise((LeafNoise("dx", pack(np.full(2, noise, np.float32))),), 3)


def test_the_noise_of_either_framework_is_that_of_an_ill_conditioned_gradient() -> None:
    # The two agree with each other, and both are off by what rounding moves one of them.
    both = alike(3.4e-5, 1.0)
    oracle = estimates(3.0e-5, 1.0)
    quiet = {MIND: moved(1e-9), TORCH: moved(1e-9)}
    assert judge(CASE, both, oracle, noise=quiet).oracle_agrees is True  # the scale is that of 1
    small = alike(3.4e-5, 3.4e-5)
    close = estimates(3.0e-5, 3.4e-5)
    assert judge(CASE, small, close, noise=quiet).oracle_agrees is False
    conditioned = {MIND: moved(1e-9), TORCH: moved(1e-6)}
    assert judge(CASE, small, close, noise=conditioned).oracle_agrees is True


def test_where_one_engine_of_mindspore_agrees_with_pytorch_the_nets_are_the_same() -> None:
    # The tape computes outputs and gradients wrong, the graph does not.
    gradients = {
        "mindspore-graph": gradient(1.0, 2.0),
        MIND: gradient(1.5, 2.0),
        TORCH: gradient(1.0, 2.0),
    }
    forwards = {"mindspore-graph": returned(3.5), MIND: returned(3.5), TORCH: returned(3.0)}
    case = judged(gradients, estimates(1.0, 2.0), forwards)
    assert not case.has_two_nets
    assert [group.oracle_agrees for group in case.groups] == [True, False]
