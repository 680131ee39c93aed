"""A case in a sentence: who differs from whom and by how much, and whom the oracle confirms."""

import msgspec
import numpy as np
import pytest

from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.failures import Failure
from explorer.model.report import AnswerGroup, CaseReport, Difference
from explorer.model.results import Estimate, Obstacle, OracleResult, Outcome, Result
from explorer.text.language import said_in
from explorer.words.cases import judged_by_oracle, oracle
from explorer.words.headlines import headline
from explorer.words.oracle import oracle_summary
from tests.support.sample_report import case_report

MIND = "mindspore-graph", "mindspore-tape"
TORCH = "torch-tape", "torch-graph"
JAX = "jax-tape", "jax-graph"
ORACLE_AGREES = "; the oracle (central differences of PyTorch's net) agrees"


def differing(
    *groups: tuple[str, ...], confirmed: int | None = None, **changes: object
) -> CaseReport:
    """A case with an answer of each of some groups, of which the oracle confirms one."""
    case = case_report(GradCase("grad", 0))
    difference = Difference(
        "value", (groups[0][0], groups[-1][0]), 1.11e-4, 0.004, "dx", (0, 2), "", 4e-8, 2500.0
    )
    judged = []
    for place, engines in enumerate(groups):
        agrees = None if confirmed is None else place == confirmed
        judged.append(AnswerGroup(engines, agrees))
    return msgspec.structs.replace(
        case,
        verdict="differs",
        expected=False,
        oracle_agrees=None if confirmed is None else False,
        groups=tuple(judged),
        greatest=msgspec.structs.replace(difference, **changes),
    )


def test_it_says_who_differs_from_whom_by_how_much_and_whom_the_oracle_confirms() -> None:
    case = differing(MIND, TORCH, confirmed=1)
    assert headline(case) == (
        "both mindspore engines differ from both torch engines by up to 0.00011 at dx[0, 2],"
        " 2,500 × the noise of rounding; the oracle (central differences of PyTorch's net) agrees only"
        " with both torch engines"
    )
    with said_in("zh"):
        assert headline(case) == (
            "MindSpore 的两个引擎与 PyTorch 的两个引擎在 dx[0, 2] 处最多相差 0.00011，是舍入噪声的"
            " 2,500 倍；参照（PyTorch 网络的中心差分）只与 PyTorch 的两个引擎一致"
        )


def test_a_difference_that_the_scenario_expects_is_said_to_be_expected() -> None:
    case = msgspec.structs.replace(differing(MIND, TORCH, confirmed=1), expected=True)
    assert headline(case).endswith("only with both torch engines, as the scenario expects")
    agreeing = case_report(GradCase("grad", 0))
    groups = (AnswerGroup((*MIND, *TORCH), False),)
    refuted = msgspec.structs.replace(agreeing, oracle_agrees=False, groups=groups)
    assert headline(refuted) == (
        "all engines agree; the oracle (central differences of PyTorch's net) differs from all"
        " engines, as the scenario expects"
    )


@pytest.mark.parametrize(("apart", "share"), [(8.5, ", 0.0004 of the value there"), (2e-6, "")])
def test_a_large_difference_that_is_rounding_is_told_with_its_share(
    apart: float, share: str
) -> None:
    difference = Difference("value", ("mindspore-tape", "torch-tape"), apart, 0.0004, "dx", (0,))
    groups = (AnswerGroup((*MIND, *TORCH)),)
    case = case_report(GradCase("grad", 0))
    case = msgspec.structs.replace(case, greatest=difference, groups=groups)
    said = f"agree up to rounding, at most {apart:g} apart{share}; the oracle"
    assert said in headline(case)


def test_an_engine_without_an_answer_is_no_exception_to_what_the_oracle_says() -> None:
    case = differing(MIND, ("torch-tape",), confirmed=5)
    # The oracle judges answers: of an engine that raised, it says nothing.
    with_silent = (*case.groups, AnswerGroup(("torch-graph",), None))
    case = msgspec.structs.replace(case, groups=with_silent)
    assert judged_by_oracle(case) == ([], [*MIND, "torch-tape"])
    assert headline(case).endswith(
        "the oracle (central differences of PyTorch's net) differs from all engines"
    )


@pytest.mark.parametrize(
    ("groups", "english", "chinese"),
    [
        (
            (MIND, (*TORCH, *JAX)),
            "both mindspore engines differ from all other engines, which agree, by up to 0.00011 at",
            "MindSpore 的两个引擎与其他所有引擎（它们彼此一致）在 dx[0, 2] 处最多相差 0.00011，",
        ),
        (
            (("mindspore-graph", "torch-graph", *JAX), ("mindspore-tape", "torch-tape")),
            "mindspore-tape, torch-tape differ from all other engines, which agree, by up to",
            "mindspore-tape、torch-tape 与其他所有引擎（它们彼此一致）在 dx[0, 2] 处最多相差",
        ),
        (
            (
                ("mindspore-graph", "torch-graph", "jax-graph"),
                ("mindspore-tape", *TORCH[:1], *JAX[:1]),
            ),
            "all graph engines differ from all tape engines by up to",
            "所有静态图引擎与所有动态图引擎在 dx[0, 2] 处最多相差",
        ),
        (
            (MIND, TORCH, JAX),
            "the engines give 3 results, which differ (both mindspore engines / both torch engines /"
            " both jax engines) by up to",
            "各引擎给出的 3 个不同结果（MindSpore 的两个引擎 / PyTorch 的两个引擎 / JAX 的两个引擎）在",
        ),
        # Others that give no result are not said to agree.
        (
            (MIND, (*TORCH, "jax-tape")),
            "both mindspore engines differ from both torch engines, jax-tape by up to",
            "MindSpore 的两个引擎与 PyTorch 的两个引擎、jax-tape 在",
        ),
    ],
)
def test_of_six_engines_it_says_who_agrees_with_whom(
    groups: tuple[tuple[str, ...], ...], english: str, chinese: str
) -> None:
    case = differing(*groups, confirmed=1)
    result = next(iter(case.results.values()))
    case = msgspec.structs.replace(case, results=dict.fromkeys((*MIND, *TORCH, *JAX), result))
    assert headline(case).startswith(english)
    with said_in("zh"):
        assert headline(case).startswith(chinese)


LONE = (*MIND, "torch-tape"), ("torch-graph",)
BOTH = "both mindspore engines differ from both torch engines "


@pytest.mark.parametrize(
    ("groups", "confirmed", "changes", "start", "end"),
    [
        (LONE, 5, {}, "torch-graph differs from all other engines, which agree, by up to", ""),
        # The oracle names the fewer engines.
        (LONE, 0, {}, "", "(central differences of PyTorch's net) differs only from torch-graph"),
        (LONE, 1, {}, "", "(central differences of PyTorch's net) agrees only with torch-graph"),
        (
            (MIND, ("torch-tape",), ("torch-graph",)),
            1,
            {},
            "the engines give 3 results, which differ (both mindspore engines / torch-tape /"
            " torch-graph) by up to 0.00011",
            "agrees only with torch-tape",
        ),
        (
            LONE,
            5,
            {"swamped": True},
            "torch-graph differs from all other engines, which agree, by up to 0.00011 at dx[0, 2], which"
            " cannot be judged: rounding alone moves it by as much as its own size",
            "",
        ),
        # A difference without size is named.
        ((MIND, TORCH), None, {"what": "shape", "index": ()}, f"{BOTH}in the shape of dx", ""),
        (
            (MIND, TORCH),
            None,
            {"what": "structure", "leaf": "", "index": ()},
            f"{BOTH}in the structure",
            "",
        ),
    ],
)
def test_who_differs_in_what_and_whom_the_oracle_confirms(
    groups: tuple[tuple[str, ...], ...],
    confirmed: int | None,
    changes: dict[str, object],
    start: str,
    end: str,
) -> None:
    said = headline(differing(*groups, confirmed=confirmed, **changes))
    assert said.startswith(start)
    assert said.endswith(end)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_named_beside_the_other(value: float) -> None:
    case = case_report(GradCase("grad", 0), wrong="torch-tape", factor=value)
    assert headline(case).startswith(
        f"torch-tape differs from all other engines, which agree, at dx[0, 0]: {value} against "
    )
    with said_in("zh"):
        assert f"前者为 {value}，后者为 " in headline(case)


AGREED = case_report(GradCase("grad", 0))
NEAR = Difference("value", TORCH, 3.8e-8, 1e-7, "dx", (0,), "", 3e-8, 1.2)
SLOW = Estimate("dw", pack(np.full(1, np.nan)), 1, obstacles=(Obstacle("time", 7),))
SILENT: dict[str, object] = {"oracle": OracleResult("ok"), "oracle_agrees": None}


def along(directions: int) -> list[Estimate]:
    return [msgspec.structs.replace(it, directions=directions) for it in AGREED.oracle.estimates]


def without_torch(outcome: Outcome) -> dict[str, object]:
    return {"results": {**AGREED.results, **dict.fromkeys(TORCH, Result(outcome=outcome))}}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, f"all engines agree{ORACLE_AGREES}"),
        (
            {"greatest": NEAR},
            f"all engines agree up to rounding, at most 3.8e-08 apart{ORACLE_AGREES}",
        ),
        (
            {"verdict": "close", "greatest": msgspec.structs.replace(NEAR, ratio=8.0)},
            "all engines are close, at most 3.8e-08 apart, 8 × the noise of rounding"
            f"{ORACLE_AGREES}",
        ),
        (
            {"oracle": OracleResult("ok", tuple(along(16)))},
            f"all engines agree{ORACLE_AGREES} along 16 random directions",
        ),
        (
            {"oracle": OracleResult("ok", tuple(along(1)))},
            f"all engines agree{ORACLE_AGREES} along 1 random direction",
        ),
        (
            {"oracle": OracleResult("ok", (*along(4), *along(2)))},
            f"all engines agree{ORACLE_AGREES} along 2 random directions",
        ),
        # One without a number judges nothing along its direction.
        (
            {"oracle": OracleResult("ok", (*along(4), SLOW))},
            f"all engines agree{ORACLE_AGREES} along 4 random directions where it can judge; it cannot"
            " where its time was over (dw)",
        ),
        # Where no values are compared it says why.
        ({**SILENT, "verdict": "all_raise"}, "every engine raises an error"),
        ({**SILENT, "verdict": "not_compared"}, "fewer than two engines give a result"),
        (
            {**SILENT, "verdict": "drawn"},
            "every value depends on random numbers; structure, shapes and dtypes agree",
        ),
        ({**SILENT, **without_torch("raised"), "verdict": "some_raise"}, "only PyTorch raises"),
        # Engines that gave no gradient are not said to agree.
        (without_torch("unsupported"), f"both mindspore engines agree{ORACLE_AGREES}"),
    ],
)
def test_a_case_without_a_difference_says_how_nearly_who_agrees_or_why_nobody_does(
    changes: dict[str, object], text: str
) -> None:
    assert headline(msgspec.structs.replace(AGREED, **changes)) == text


def test_engines_that_raise_where_others_answer_say_what_each_error_once() -> None:
    case = differing(JAX, ("torch-tape",), ("torch-graph",))
    advice = "No reverse mode for while_loop, in v1.2. Try using lax.scan"
    results = {"torch-tape": case.results["torch-tape"], "torch-graph": case.results["torch-graph"]}
    failed = Result(outcome="raised", error=Failure("ValueError", advice))
    case = msgspec.structs.replace(
        case,
        verdict="some_raise",
        oracle=OracleResult("not_asked"),
        results={**results, "jax-tape": failed, "jax-graph": failed},
    )
    error = "ValueError: No reverse mode for while_loop, in v1.2"
    assert headline(case) == f"only JAX raises: {error}"
    own = Result(outcome="raised", error=Failure("TypeError", "complex"))
    case = msgspec.structs.replace(case, results={**case.results, "torch-graph": own})
    assert headline(case) == (
        "only torch-graph, jax-tape and jax-graph raise: both jax engines"
        f" {error} / torch-graph TypeError: complex"
    )


@pytest.mark.parametrize(
    ("groups", "confirmed", "cell"),
    [
        ((MIND, TORCH), 1, "only torch"),
        ((MIND, TORCH), 0, "only mindspore"),
        (
            (("mindspore-tape", "torch-tape"), ("mindspore-graph", "torch-graph")),
            0,
            "only tape engines",
        ),
        (
            (("mindspore-tape", "torch-tape"), ("mindspore-graph", "torch-graph")),
            1,
            "only graph engines",
        ),
        (((*MIND, "torch-tape"), ("torch-graph",)), 0, "refutes torch-graph"),
        (((*MIND, "torch-tape"), ("torch-graph",)), 1, "only torch-graph"),
        ((MIND, TORCH), 5, "refutes all engines"),
    ],
)
def test_the_oracle_s_cell_names_the_fewer_whom_it_confirms_or_refutes(
    groups: tuple[tuple[str, ...], ...], confirmed: int, cell: str
) -> None:
    case = differing(*groups, confirmed=confirmed)
    assert oracle(case) == cell
    assert oracle_summary([case]).endswith(": contradicts some engine in 1")
