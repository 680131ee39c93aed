"""What the study tells of initial values, epsilons, GELU, cross entropy, and of defaults side by
side.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from explorer.model.study import Chart, Series, Table
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.operators import asked
from explorer.topics.operators.data import POINTS
from explorer.topics.operators.facts import (
    epsilon,
    fits,
    gelu_formula,
    implied_momentum,
    variance_epsilon,
)
from explorer.topics.operators.shown import (
    NONE,
    TITLES,
    Found,
    alike,
    found,
    joined,
    message,
    missing,
    short,
    tell,
)
from explorer.topics.studying import Telling

PARTS = ("convolution weight", "convolution bias", "dense weight", "dense bias")


def told(evidence: Evidence) -> Telling:
    """Findings, tables and a chart of values that are not asked for."""
    initial, gelu = found(evidence, asked.INITIAL), found(evidence, asked.GELU)
    entropy = found(evidence, asked.CROSS_ENTROPY)
    defaults = _defaults(evidence)
    return tell(
        findings=[*_of_defaults(defaults), *_of_initial(initial), *_of_gelu(gelu)],
        tables=[
            defaults,
            _initial(initial, missing(evidence, asked.INITIAL)),
            _gelu(gelu, missing(evidence, asked.GELU)),
            _entropy(entropy, missing(evidence, asked.CROSS_ENTROPY)),
        ],
        charts=_chart(initial),
    )


def _defaults(evidence: Evidence) -> Table:
    """One row a default, one column a framework, every cell measured."""
    rows: tuple[tuple[str, asked.Asked, Callable[[Any], str]], ...] = (
        (
            "dropout without an argument keeps",
            asked.DROPOUT_SETTINGS,
            lambda each: _kept(each["no argument"]),
        ),
        ("dropout(0.3) keeps", asked.DROPOUT_SETTINGS, lambda each: _kept(each["0.3 alone"])),
        (
            "3 x 3 convolution of 5 x 5 gives",
            asked.CONVOLUTION_DEFAULT,
            lambda each: short(each["shape"]),
        ),
        (
            "a convolution has a bias",
            asked.CONVOLUTION_DEFAULT,
            lambda each: short(each["has_bias"]),
        ),
        (
            "weight of the old running mean in batch norm",
            asked.MOMENTUM,
            lambda each: f"{implied_momentum(each['default']):g}",
        ),
        (
            "batch norm's epsilon",
            asked.EPSILON,
            lambda each: f"{variance_epsilon(each['batch norm of 1']):g}",
        ),
        ("layer norm's epsilon", asked.EPSILON, lambda each: f"{epsilon(each['layer norm']):g}"),
        (
            "convolution weights may be",
            asked.INITIAL,
            lambda each: _fit(each["convolution weight"]),
        ),
        ("convolution biases may be", asked.INITIAL, lambda each: _fit(each["convolution bias"])),
        ("dense weights may be", asked.INITIAL, lambda each: _fit(each["dense weight"])),
        ("dense biases may be", asked.INITIAL, lambda each: _fit(each["dense bias"])),
        (
            "standard deviation of an embedding",
            asked.INITIAL,
            lambda each: f"{each['embedding std']:.2g}",
        ),
    )
    cells = []
    for name, whom, words in rows:
        figures = found(evidence, whom)
        if figures:
            cells.append(
                (name, *(words(figures[who]) if who in figures else NONE for who in asked.THREE))
            )
    note = missing(evidence, asked.INITIAL)
    return Table(
        title="Defaults side by side",
        columns=("default", *(TITLES[who] for who in asked.THREE)),
        rows=tuple(cells),
        note=note,
    )


def _kept(figure: Any) -> str:
    return short(figure) if raised(figure) else f"{figure['kept']:.2f}"


def _fit(values: Mapping[str, Any]) -> str:
    return " or ".join(fits(values)) or "none of the candidates"


def _of_defaults(defaults: Table) -> Iterator[str]:
    """A finding for each default that differs between MindSpore and PyTorch; sampled shares differ
    in their last digits.
    """
    apart = [
        row for row in defaults.rows if NONE not in row[1:3] and not _near(str(row[1]), str(row[2]))
    ]
    for row in apart:
        yield (
            f"Default that differs: {row[0]}: "
            + ", ".join(
                f"{TITLES[who]} {cell}"
                for who, cell in zip(asked.THREE, row[1:], strict=True)
                if cell != NONE
            )
            + "."
        )


def _near(one: str, other: str) -> bool:
    try:
        return abs(float(one) - float(other)) <= 0.1 * max(abs(float(one)), abs(float(other)))
    except ValueError:
        return one == other


def _of_initial(initial: Found) -> Iterator[str]:
    for part in PARTS:
        figures = {who: each[part] for who, each in initial.items()}
        if figures:
            told = joined(
                {
                    TITLES[
                        who
                    ]: f"within [{each['minimum']:.4f}, {each['maximum']:.4f}], {_fit(each)}"
                    for who, each in figures.items()
                }
            )
            bound = next(iter(figures.values()))["bound"]
            yield f"Default {part} (sqrt k = {bound:.4f}): {told}."


def _initial(initial: Found, note: str) -> Table:
    rows = []
    for part in PARTS:
        for who, each in initial.items():
            values = each[part]
            tests = tuple(test["p"] for test in values["ks"].values())
            rows.append(
                (
                    part,
                    TITLES[who],
                    values["count"],
                    values["bound"],
                    values["minimum"],
                    values["maximum"],
                    values["std"],
                    *tests,
                )
            )
    names = (
        tuple(f"p of {name}" for name in next(iter(initial.values()))["dense weight"]["ks"])
        if initial
        else ()
    )
    columns = ("values", "framework", "count", "sqrt k", "least", "greatest", "std", *names)
    told = (
        "k = 1 / fan in. p-values of Kolmogorov-Smirnov tests: near 0 rules the distribution out."
    )
    return Table(
        title="Default initial values",
        columns=columns,
        rows=tuple(rows),
        note=f"{told} {note}".strip(),
    )


def _chart(initial: Found) -> list[Chart]:
    series = []
    for who, each in initial.items():
        density = each["convolution weight"]["density"]
        series.append(Series(TITLES[who], tuple(density["from"]), tuple(density["of"])))
    if not series:
        return []
    note = "In units of sqrt k = 1 / sqrt(fan in). Glorot's bound depends on the fan out too."
    title = "Default weights of a convolution"
    return [
        Chart(
            name="initial_values",
            title=title,
            kind="steps",
            x="weight / sqrt k",
            y="density",
            series=tuple(series),
            note=note,
        )
    ]


def _of_gelu(gelu: Found) -> Iterator[str]:
    first = {who: next(iter(each.items())) for who, each in gelu.items()}
    kinds = {
        who: f"{way} is the {gelu_formula(made['value'], POINTS)[0]} one"
        for who, (way, made) in first.items()
        if not raised(made)
    }
    if kinds:
        apart = max(
            gelu_formula(made["value"], POINTS)[1] for _, made in first.values() if not raised(made)
        )
        told = "; ".join(f"{who} {text}" for who, text in alike(kinds, str).items())
        yield f"GELU's two formulas are up to {apart:.1e} apart; when nothing is said, {told}."


def _gelu(gelu: Found, note: str) -> Table:
    rows = []
    ways = list(
        dict.fromkeys((who.partition("-")[0], way) for who, each in gelu.items() for way in each)
    )
    for framework, way in ways:
        figures = {
            who: each[way]
            for who, each in gelu.items()
            if who.partition("-")[0] == framework and way in each
        }
        words = alike(
            figures,
            lambda each: message(each) if raised(each) else gelu_formula(each["value"], POINTS)[0],
        )
        slopes = alike(
            figures,
            lambda each: NONE if raised(each) or "slope" not in each else short(each["slope"][8]),
        )
        rows.append((TITLES[framework], way, "; ".join(words.values()), "; ".join(slopes.values())))
    columns = ("framework", "call", "formula", "slope at -2")
    return Table(title="GELU: which formula", columns=columns, rows=tuple(rows), note=note)


def _entropy(entropy: Found, note: str) -> Table:
    rows = []
    ways = list(
        dict.fromkeys((who.partition("-")[0], way) for who, each in entropy.items() for way in each)
    )
    for framework, way in ways:
        figures = {
            who: each[way]
            for who, each in entropy.items()
            if who.partition("-")[0] == framework and way in each
        }
        for who, text in alike(figures, _loss).items():
            value, _, gradient = text.partition(" | ")
            rows.append((who, way, value, gradient or NONE))
    title = "Cross entropy of the logits [[2, -1, 0.5], [0, 3, -2]] and the labels [0, 2]"
    return Table(
        title=title, columns=("engine", "call", "value", "gradient"), rows=tuple(rows), note=note
    )


def _loss(made: Any) -> str:
    if raised(made):
        return message(made)
    return f"{short(made['value'])} | {short(made['gradient']) if 'gradient' in made else NONE}"
