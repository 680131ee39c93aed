"""What the study tells of operators with equal settings: whether gradients and outputs of all
engines agree.
"""

from collections.abc import Iterator

from explorer.model.study import Cell, Table
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.operators import asked
from explorer.topics.operators.facts import ROUNDING, furthest, reproducible
from explorer.topics.operators.shown import (
    NONE,
    TITLES,
    Found,
    alike,
    found,
    message,
    missing,
    tell,
    together,
)
from explorer.topics.studying import Telling

REFERENCE = "torch-tape"
ORDERS = ("first", "second")


def told(evidence: Evidence) -> Telling:
    """Findings and tables of gradients and inference with equal settings."""
    gradients, runs = found(evidence, asked.GRADIENTS), found(evidence, asked.INFERENCE)
    return tell(
        findings=[*_of_gradients(gradients), *_of_inference(runs)],
        tables=[
            _gradients(gradients, missing(evidence, asked.GRADIENTS)),
            _inference(runs, missing(evidence, asked.INFERENCE)),
        ],
    )


def _of_gradients(gradients: Found) -> Iterator[str]:
    for order in ORDERS:
        agree, apart, undefined = compared(gradients, order)
        if agree or apart or undefined:
            told = f"; none of: {by_operator(undefined)}" if undefined else ""
            differ = f", {len(apart)} do not ({by_operator(apart)})" if apart else ""
            yield f"Equal settings, {order} order: {len(agree)} gradients agree with {TITLES[REFERENCE]}'s{differ}{told}."


def compared(
    gradients: Found, order: str
) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, str]]]:
    """Engine and operator of the gradients that agree with PyTorch's tape but for rounding, that do
    not, and that nobody gave.
    """
    agree: list[tuple[str, str]] = []
    apart: list[tuple[str, str]] = []
    undefined: list[tuple[str, str]] = []
    reference = gradients.get(REFERENCE, {})
    for who, each in gradients.items():
        for name, orders in each.items():
            if raised(orders[order]):
                undefined.append((who, name))
            elif who != REFERENCE and name in reference and not raised(reference[name][order]):
                (
                    agree if furthest(orders[order], reference[name][order]) <= ROUNDING else apart
                ).append((who, name))
    return agree, apart, undefined


def by_operator(pairs: list[tuple[str, str]]) -> str:
    """ "max pool, same (MindSpore); layer norm (MindSpore tape)" of engines and operators."""
    names = dict.fromkeys(name for _, name in pairs)
    return "; ".join(
        f"{name} ({together([who for who, each in pairs if each == name])})" for name in names
    )


def _gradients(gradients: Found, note: str) -> Table:
    reference = gradients.get(REFERENCE, {})
    rows: list[tuple[Cell, ...]] = []
    for name in next(iter(gradients.values()), {}):
        for order in ORDERS:
            cells = [
                _cell(gradients.get(who, {}).get(name), reference.get(name), order)
                for who in asked.ENGINES
            ]
            rows.append((name, order, *cells))
    columns = ("operator", "order", *(TITLES[who] for who in asked.ENGINES))
    told = f"Of the sum of the squared output. Greatest difference from {TITLES[REFERENCE]}, relative to the greatest number."
    return Table(
        title="Gradients with equal settings",
        columns=columns,
        rows=tuple(rows),
        note=f"{told} {note}".strip(),
    )


def _cell(found: object, reference: object, order: str) -> str:
    if not isinstance(found, dict) or not isinstance(reference, dict):
        return NONE
    if raised(found[order]):
        return message(found[order])
    return (
        NONE
        if raised(reference[order])
        else f"{furthest(found[order], reference[order]):.1e}".replace("0.0e+00", "0")
    )


def _of_inference(runs: Found) -> Iterator[str]:
    reference = runs.get(REFERENCE)
    told = {}
    for who, each in runs.items():
        calm, busy = (
            "the same" if reproducible(each[mode]) else "different"
            for mode in ("inference", "training")
        )
        far = (
            f", {furthest(each['inference'][0], reference['inference'][0]):.1g} from {TITLES[REFERENCE]}"
            if reference
            else ""
        )
        told[who] = f"inference gives {calm} outputs every time{far}; training {busy} ones"
    yield from (
        f"One net with given weights in {who}: {text}." for who, text in alike(told, str).items()
    )


def _inference(runs: Found, note: str) -> Table:
    reference = runs.get(REFERENCE)
    rows = [
        (
            TITLES[who],
            reproducible(each["inference"]),
            furthest(each["inference"][0], reference["inference"][0]) if reference else None,
            reproducible(each["training"]),
            furthest(each["training"][0], reference["training"][0]) if reference else None,
        )
        for who, each in runs.items()
    ]
    far = f"from {TITLES[REFERENCE]}"
    columns = (
        "engine",
        "inference repeats",
        f"inference {far}",
        "training repeats",
        f"training {far}",
    )
    return Table(
        title="One net, given weights: outputs of repeated calls",
        columns=columns,
        rows=tuple(rows),
        note=note,
    )
