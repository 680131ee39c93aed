"""Claims about what a gradient call returns: positions, weights, auxiliary outputs, the older form,
nesting.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.model.claim import Ruling
from explorer.model.measurement import Figures, Measurement
from explorer.model.trees import render
from explorer.numeric.differences import greatest_difference
from explorer.scenario.contract import find
from explorer.scenario.matrix import structure
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.gradients.answers import case_of, measurement
from explorer.topics.gradients.nesting import NESTING
from explorer.topics.styles import MINDSPORE, NAMES, by_style
from explorer.topics.topic import Claim

ASKED = (*MINDSPORE, "torch-tape")
"""MindSpore in both styles, and PyTorch's tape as its counterpart."""

SCENARIO = str(find("dense_mse"))
SUMMED = str(Path(__file__).with_name("dense_mse_sum.py"))
DX, DY, DW = [[4, 6, 8]], -2, [[2, 4, 6]]
DX_SUM = [[6, 9, 12]]
NEARLY = 1e-6

Case = dict[str, Any]
CASES: tuple[tuple[Case, list[Any]], ...] = (
    ({"api": "grad", "grad_position": 0, "has_aux": True}, [DX]),
    ({"api": "grad", "grad_position": 1, "has_aux": True}, [DY]),
    ({"api": "grad", "grad_position": [0, 1], "has_aux": True}, [DX, DY]),
    ({"api": "grad", "grad_position": None, "weights": "all", "has_aux": True}, [DW]),
    ({"api": "grad", "grad_position": 0, "weights": "all", "has_aux": True}, [DX, DW]),
    ({"api": "grad", "grad_position": [0, 1], "weights": "all", "has_aux": True}, [DX, DY, DW]),
    ({"api": "grad", "grad_position": 0, "has_aux": False}, [DX_SUM]),
)
"""The guide's seven structures, each with its gradients."""


def _asked(
    engine: str, case: Case, scenario: str = SCENARIO, net: str = "dense_mse"
) -> Measurement:
    return measurement(engine, scenario, net, **case)


def _expected(case: Case) -> str:
    """The structure that the guide gives a case of `dense_mse`."""
    return render(structure(case_of(case), ("x", "y"), ("fc.weight",), ("loss", "logits")))


# Verdicts


def shown(figures: Figures) -> str:
    """A structure with its numbers, or what was raised."""
    if raised(figures):
        return said(figures)
    return f"{figures['structure']} = {_numbers(figures['values'])}"


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_numbers, value)) + "]"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _told(found: dict[str, Figures], tell: Callable[[Figures], str] = shown) -> str:
    """What each engine gave, engines that agree together."""
    groups: dict[str, list[str]] = {}
    for engine, figures in found.items():
        groups.setdefault(tell(figures), []).append(NAMES[engine])
    return "; ".join(f"{', '.join(who)}: {text}" for text, who in groups.items())


def _same(figures: Figures, wanted: list[Any]) -> bool:
    return (
        not raised(figures)
        and greatest_difference(_flat(figures["values"]), _flat(wanted)) <= NEARLY
    )


def _flat(value: Any) -> list[float]:
    """The numbers of nested lists from left to right."""
    return (
        [number for item in value for number in _flat(item)] if isinstance(value, list) else [value]
    )


def _structured(case: Case) -> Callable[[Evidence, dict[str, Any]], Ruling]:
    """Judges one of the guide's structures: the same numbers in the same nesting."""

    def judge(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
        found = {engine: evidence[_asked(engine, case).name] for engine in ASKED}
        seen = _told(found)
        numbers = {engine: _same(figures, expects["values"]) for engine, figures in found.items()}
        nested = {
            engine: numbers[engine] and found[engine]["structure"] == expects["structure"]
            for engine in found
        }
        verdict = by_style(nested)
        if verdict != "holds" and by_style(numbers) == "holds":
            return Ruling(
                "holds_with_changes",
                seen,
                f"The numbers are the guide's; unpack them as {_structures(found)}.",
            )
        advice = {
            "holds": f"Unpack the result as {expects['structure']}.",
            "depends_on_style": "Check the result's nesting and numbers in the style that you use: the two differ here.",
            "does_not_hold": "Print what comes back before you use it: it is not what the guide says.",
        }
        return Ruling(verdict, seen, advice[verdict])

    return judge


def _structures(found: dict[str, Figures]) -> str:
    return " or ".join(dict.fromkeys(found[engine]["structure"] for engine in MINDSPORE))


def _equals_sum(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    whole = {engine: evidence[_asked(engine, CASES[6][0]).name] for engine in ASKED}
    summed = {
        engine: evidence[_asked(engine, SUM_CASE, SUMMED, "loss + logits").name] for engine in ASKED
    }
    right = {
        engine: all(_same(each[engine], [expects["gradient"]]) for each in (whole, summed))
        for engine in ASKED
    }
    seen = f"has_aux=False: {_told(whole)}. A net that returns loss + logits: {_told(summed)}"
    advice = {
        "holds": "Return the loss alone, or use has_aux=True: every further output is added to what is differentiated.",
        "depends_on_style": "Use has_aux=True: what an extra output does to the gradient differs between the styles.",
        "does_not_hold": "Find out what is differentiated before you return more than the loss: it is not the sum.",
    }
    verdict = by_style(right)
    return Ruling(verdict, seen, advice[verdict])


def _nothing_asked(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    found = {engine: evidence[_asked(engine, NOTHING).name] for engine in ASKED}
    seen = _told(found)
    refused = {
        engine: raised(figures) and figures["raised"] == expects["raised"]
        for engine, figures in found.items()
    }
    worded = {
        engine: refused[engine] and expects["message"] in found[engine]["message"]
        for engine in found
    }
    if by_style(worded) == "holds":
        return Ruling("holds", seen, "Give a grad_position, weights, or both.")
    if by_style(refused) == "holds":
        return Ruling(
            "holds_with_changes",
            seen,
            f"Catch {expects['raised']}, not its text: the words have changed.",
        )
    return Ruling(
        by_style(refused),
        seen,
        "Do not rely on this call being refused: check your positions and weights yourself.",
    )


def _with_value(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    right, wrong = dict.fromkeys(MINDSPORE, True), []
    for case, gradients in CASES:
        for engine in MINDSPORE:
            figures = evidence[_asked(engine, {**case, "api": "value_and_grad"}).name]
            wanted = f"({expects['outputs']}, {_inner(_expected(case), case)})"
            if not (
                _same(figures, [*expects["value"], *gradients]) and figures["structure"] == wanted
            ):
                right[engine] = False
                wrong.append(
                    f"{NAMES[engine]}, {case_of({**case, 'api': 'value_and_grad'}).label}: {shown(figures)}"
                )
    verdict = by_style(right)
    last = evidence[_asked("mindspore-graph", {**CASES[5][0], "api": "value_and_grad"}).name]
    count = len(MINDSPORE) * len(CASES)
    seen = f"{count - len(wrong)} of {count} calls as expected" + "".join(
        f"; not {each}" for each in wrong
    )
    advice = {
        "holds": "Unpack as `(outputs, gradients)`: the gradients nest as those of grad do, without the auxiliary outputs.",
        "depends_on_style": "Check how the result nests in the style that you use: the two differ.",
        "does_not_hold": "Print what value_and_grad returns before you unpack it: it is not (outputs, gradients) as grad nests.",
    }
    return Ruling(verdict, f"{seen}; the widest: {shown(last)}", advice[verdict])


def _inner(nesting: str, case: Case) -> str:
    """The gradient's part of what grad returns."""
    return nesting[1 : -len(", (logits,))")] if case["has_aux"] else nesting


def _older_form(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    equal, nested, gone, told = dict.fromkeys(MINDSPORE, 0), 0, [], []
    for old, new in FORMS:
        for engine in MINDSPORE:
            older, newer = (evidence[_asked(engine, case).name] for case in (old, new))
            gone += [said(older)] if raised(older) and older["raised"] == "AttributeError" else []
            equal[engine] += not raised(newer) and _same(older, newer["values"])
            nested += (
                not raised(older) and not raised(newer) and older["structure"] == newer["structure"]
            )
        told.append(f"{case_of(old).label}: {shown(older)}")
    count = len(FORMS)
    seen = f"equal numbers in {sum(equal.values())} of {2 * count} pairs, equal nesting in {nested}; {'; '.join(told)}"
    if gone:
        return Ruling("outdated", gone[0], "Use grad or value_and_grad: GradOperation is gone.")
    verdict = by_style({engine: found == count for engine, found in equal.items()})
    advice = {
        "holds": "Write grad(net, position, weights) instead: the numbers are the same.",
        "depends_on_style": "Use grad: the older form agrees with it in one style alone.",
        "does_not_hold": "Use grad: the older form gives other numbers.",
    }
    return Ruling(verdict, seen, advice[verdict])


# The claims

NOTHING: Case = {"api": "grad", "grad_position": None}
SUM_CASE: Case = {"api": "grad", "grad_position": 0}


def _old(position: Any, weights: str | None, get_all: bool, get_by_list: bool) -> tuple[Case, Case]:
    new = {"api": "grad", "grad_position": position, "weights": weights}
    return {**new, "api": "GradOperation", "get_all": get_all, "get_by_list": get_by_list}, new


FORMS = (
    _old(0, None, False, False),
    _old([0, 1], None, True, False),
    _old(None, "all", False, True),
    _old([0, 1], "all", True, True),
)
"""The older form's flags, and the call of grad that asks the same."""

WORDS = (
    "the gradient by the first input, and the auxiliary outputs as a tuple",
    "the gradient by the second input, and the auxiliary outputs",
    "a tuple of two gradients, and the auxiliary outputs",
    "a tuple of the weights' gradients, and the auxiliary outputs",
    "the input's gradient beside the weights' tuple, and the auxiliary outputs",
    "the inputs' tuple beside the weights' tuple, and the auxiliary outputs",
    "the gradient of the sum of all outputs",
)


def _structure_claim(row: int) -> Claim:
    case, gradients = CASES[row - 1]
    values: list[Any] = [*gradients, *([20] if case["has_aux"] else [])]
    return Claim(
        id=row,
        topic="gradients",
        statement=f"`{case_of(case).label}` returns {WORDS[row - 1]}.",
        guides=("004",),
        would=f"Both styles return {_expected(case)} with the numbers {_numbers(values)}.",
        measurements=tuple(_asked(engine, case) for engine in ASKED),
        judge=_structured(case),
        expects={"structure": _expected(case), "values": values},
    )


def _claim(
    row: int, statement: str, would: str, asked: tuple[Measurement, ...], judge: Any, **expects: Any
) -> Claim:
    return Claim(row, "gradients", statement, ("004",), would, asked, judge, expects)


CLAIMS: tuple[Claim, ...] = (
    *(_structure_claim(row) for row in range(1, 8)),
    _claim(
        8,
        "Differentiating all outputs equals differentiating a net that returns their sum.",
        "Both nets have the gradient [[6, 9, 12]].",
        (
            *(_asked(engine, CASES[6][0]) for engine in ASKED),
            *(_asked(engine, SUM_CASE, SUMMED, "loss + logits") for engine in ASKED),
        ),
        _equals_sum,
        gradient=DX_SUM,
    ),
    _claim(
        9,
        "Asking for neither a position nor weights is a ValueError.",
        "grad(net, None, None) raises ValueError with the guide's words.",
        tuple(_asked(engine, NOTHING) for engine in ASKED),
        _nothing_asked,
        raised="ValueError",
        message="`grad_position` and `weight` can not be None at the same time.",
    ),
    _claim(
        10,
        "`value_and_grad` returns (outputs, gradients), the gradients nested in the same seven ways.",
        "All seven calls return ((loss, logits), gradients) with the values 1 and 20.",
        tuple(
            _asked(engine, {**case, "api": "value_and_grad"})
            for case, _ in CASES
            for engine in MINDSPORE
        ),
        _with_value,
        outputs="(loss, logits)",
        value=[1, 20],
    ),
    _claim(
        11,
        "`GradOperation` is the older form of the same function.",
        "With corresponding flags it returns the numbers of grad.",
        tuple(_asked(engine, case) for pair in FORMS for case in pair for engine in MINDSPORE),
        _older_form,
    ),
    NESTING,
)
"""Rows 1 to 11 and 26."""
