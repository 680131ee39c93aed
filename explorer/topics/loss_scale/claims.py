"""Claims about loss scaling: the guide's example, finite gradients, underflow in float16, the
dynamic scaler.
"""

from collections.abc import Callable
from typing import Any

from explorer.model.claim import Ruling
from explorer.model.measurement import Figures
from explorer.numeric.differences import greatest_difference
from explorer.text.numbers import number
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale import measurement
from explorer.topics.loss_scale.telling import STYLES, alike, counts, shown
from explorer.topics.styles import by_style
from explorer.topics.topic import Claim

NEARLY = 1e-6
TRUE = 1e-8
"""The gradient that float16 cannot hold."""


def _found(evidence: Evidence, question: str) -> dict[str, Figures]:
    return {engine: evidence[measurement(question, engine).name] for engine in STYLES}


def _told(found: dict[str, Figures], tell: Callable[[Figures], str]) -> str:
    return "; ".join(f"{who}: {text}" for who, text in alike(found, tell))


def _example(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    found = _found(evidence, "guide_example")
    right = {
        engine: all(_near(each[key], expects[key]) for key in ("scaled", "unscaled"))
        for engine, each in found.items()
    }
    seen = _told(
        found,
        lambda each: (
            f"loss {each['scaled']['loss']:g}, gradient {shown(each['scaled']['gradient'])}; "
            f"unscaled {each['unscaled']['loss']:g} and {shown(each['unscaled']['gradient'])}"
        ),
    )
    verdict = by_style(right)
    advice = {
        "holds": "Scale the loss inside the function that you differentiate, and unscale the gradients before the optimizer.",
        "depends_on_style": "Check scaled and unscaled gradients in the style that you use: the two differ.",
        "does_not_hold": "Scale and unscale by hand, and compare with an unscaled run: the scaler does something else here.",
    }
    return Ruling(verdict, seen, advice[verdict])


def _near(figures: Figures, wanted: dict[str, Any]) -> bool:
    return all(greatest_difference(figures[key], value) <= NEARLY for key, value in wanted.items())


def _finite(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    found = _found(evidence, "finiteness")
    wrong = {
        engine: [
            case
            for case, value in figures.items()
            if not raised(value) and value != _is_finite(case, expects["marks"])
        ]
        for engine, figures in found.items()
    }
    asked = {
        engine: sum(not raised(value) for value in figures.values())
        for engine, figures in found.items()
    }
    seen = "; ".join(
        f"{name}: right about {asked[engine] - len(wrong[engine])} of {asked[engine]} pairs of tensors"
        + (f", wrong about {', '.join(wrong[engine])}" if wrong[engine] else "")
        for engine, name in STYLES.items()
    )
    refused = sorted({said(value) for value in found["torch"].values() if raised(value)})
    verdict = by_style({engine: bool(asked[engine]) and not wrong[engine] for engine in found})
    advice = {
        "holds": "Ask all_finite of the gradients before each step, and leave the step out when it says False.",
        "depends_on_style": "Ask all_finite in the style that is right about all of these, and isfinite otherwise.",
        "does_not_hold": "Use isfinite on every gradient instead: all_finite misses what it should find.",
    }
    return Ruling(
        verdict,
        seen + "".join(f"; GradScaler on float16 gradients: {each}" for each in refused),
        advice[verdict],
    )


def _is_finite(case: str, marks: list[str]) -> bool:
    return not any(mark in case for mark in marks)


def _float16(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    found = {
        engine: figures["float16"] for engine, figures in _found(evidence, "underflow").items()
    }
    lost = {engine: number(each["without"]) == 0 for engine, each in found.items()}
    kept = {
        engine: number(each["scaled"]) != 0
        and abs(number(each["unscaled in float32"]) / TRUE - 1) <= expects["within"]
        for engine, each in found.items()
    }
    there = [each["unscaled there"] for each in found.values()]
    ends = [
        ("is refused" if raised(each) else "loses them again")
        for each in there
        if raised(each) or number(each) == 0
    ]
    seen = _told(
        found,
        lambda each: (
            f"1e-8 becomes {', '.join(f'{what} {shown(value)}' for what, value in each.items())}"
        ),
    )
    verdict = by_style({engine: lost[engine] and kept[engine] for engine in found})
    if verdict != "holds":
        how = (
            "Keep such gradients in float32."
            if any(lost.values())
            else "A gradient of this size needs no scaling here."
        )
        return Ruling(verdict, seen, how)
    if ends:
        how = f"unscaling in float16 {' or '.join(dict.fromkeys(ends))}"
        return Ruling(
            verdict,
            seen,
            f"Scale the loss, and cast the gradients to float32 before you unscale: {how}.",
        )
    return Ruling(
        verdict, seen, "Scale the loss by a power of two and unscale the gradients before the step."
    )


def _dynamic(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    found = _found(evidence, "life")
    lives = {engine: counts(figures["turns"]) for engine, figures in found.items()}
    right = {
        engine: min(life["overflows"], life["grown"]) > 0
        and life["overflows"] == life["skipped"] == life["shrunk"]
        and life["grown"] == life["on time"]
        for engine, life in lives.items()
    }
    scales = {
        engine: [turn["scale"] for turn in figures["turns"]] for engine, figures in found.items()
    }
    alongside = sum(len(set(step)) == 1 for step in zip(*scales.values(), strict=True))
    seen = _told(
        lives,
        lambda life: (
            f"{life['overflows']} overflows, {life['skipped']} skipped, {life['shrunk']} halve the scale; "
            f"{life['grown']} growths, {life['on time']} after a whole window"
        ),
    )
    verdict = by_style(right)
    advice = {
        "holds": "In MindSpore skip the step yourself when all_finite is False, then adjust; GradScaler.step skips by itself.",
        "depends_on_style": "Watch the scale in the style that you use: the scaler keeps its rules in one style alone.",
        "does_not_hold": "Watch the scale and the skipped steps of your training: the scaler does not keep the guide's rules.",
    }
    return Ruling(
        verdict,
        f"{seen}; the same scale everywhere at {alongside} of {len(scales['torch'])} steps",
        advice[verdict],
    )


def _claim(
    row: int, question: str, statement: str, would: str, judge: Any, **expects: Any
) -> Claim:
    asked = tuple(measurement(question, engine) for engine in STYLES)
    return Claim(row, "loss scaling", statement, ("004",), would, asked, judge, expects)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        12,
        "guide_example",
        "StaticLossScaler(1024) multiplies loss and gradient by 1024, and unscaling brings both back.",
        "The loss is 1024 and the gradient [[2048, 4096, 6144]]; unscaled they are 1 and [[2, 4, 6]].",
        _example,
        scaled={"loss": 1024, "gradient": [[2048, 4096, 6144]]},
        unscaled={"loss": 1, "gradient": [[2, 4, 6]]},
    ),
    _claim(
        13,
        "finiteness",
        "`all_finite` is True when nothing overflowed, and False for an infinity or NaN.",
        "It is False for every case with inf or nan and True for the others, in float16 and float32.",
        _finite,
        marks=["inf", "nan"],
    ),
    _claim(
        14,
        "underflow",
        "Without scaling, small float16 gradients underflow to 0; with scaling they survive.",
        "A gradient of 1e-8 is 0 without scaling; scaled by 65536 and unscaled in float32 it is 1e-8.",
        _float16,
        within=0.01,
    ),
    _claim(
        15,
        "life",
        "After an overflow the dynamic scaler lowers the scale and the step is skipped; it grows back after a window.",
        "Every overflow halves the scale and leaves the weight alone; every growth follows a whole window of finite steps.",
        _dynamic,
    ),
)
"""Rows 12 to 15."""
