"""What Jacobians, products and Hessians tell: which agree with their closed forms."""

from collections.abc import Iterator, Mapping

from explorer.model.measurement import Figures
from explorer.model.study import Cell, Table
from explorer.topics.cells import EMPTY, why_empty
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order.questions import TOPIC, TRANSFORMATIONS, TRANSFORMING
from explorer.topics.higher_order.transformations import FORMULAS, closed_forms, held
from explorer.topics.question import PARTIES


def held_by_party(evidence: Evidence) -> dict[str, dict[str, str]]:
    """How each transformation stands against its closed form, by who computed it and by its name;
    EMPTY where it was not computed.
    """
    figures_of: dict[str, Figures] = {}
    for question in TRANSFORMATIONS.values():
        for party, figures in evidence[question].items():
            figures_of.setdefault(party, {}).update(figures)

    standing: dict[str, dict[str, str]] = {}
    for party, figures in figures_of.items():
        standing[party] = {}
        for name, closed_form in closed_forms().items():
            is_there = name in figures
            standing[party][name] = held(figures[name], closed_form) if is_there else EMPTY
    return standing


@TOPIC.finding()
def transformations_by_party(evidence: Evidence) -> Iterator[str]:
    """How many transformations agree, which are wrong, and what is raised."""
    for party, outcomes in held_by_party(evidence).items():
        yield (f"Jacobians, products and Hessians, {PARTIES[party].label}: {counted(outcomes)}.")


def counted(outcomes: Mapping[str, str]) -> str:
    """How many of some outcomes agree; the names of those that are wrong, and of those that raise,
    by message.
    """
    right = 0
    wrong: list[str] = []
    refused: dict[str, list[str]] = {}
    for name, outcome in outcomes.items():
        if outcome == "agrees":
            right += 1
        elif outcome.startswith("wrong"):
            wrong.append(name)
        else:
            refused.setdefault(outcome.rstrip("."), []).append(name)

    sentence = f"{right} of {len(outcomes)} agree with the closed form"
    if wrong:
        sentence += f"; wrong without a message: {len(wrong)} ({' · '.join(wrong)})"
    for message, names in refused.items():
        sentence += f"; {' · '.join(names)}: {message}"
    return sentence


@TOPIC.table()
def transformations_side_by_side(evidence: Evidence) -> Iterator[Table]:
    """How every transformation stands against its closed form."""
    standing = held_by_party(evidence)
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(closed_forms()) if standing else ():
        cells = [standing.get(party, {}).get(name, EMPTY) for party in TRANSFORMING]
        rows.append((name, *cells))
    formulas = "; ".join(f"{net}: {formula}" for net, formula in FORMULAS.items())
    missing = why_empty(evidence, *TRANSFORMATIONS.values())
    yield Table(
        title="Jacobians, products and Hessians of a field v and an energy e",
        columns=("what", *(PARTIES[party].label for party in TRANSFORMING)),
        rows=tuple(rows),
        note=f"In float32 unless it says float64; {formulas}. {missing}".strip(),
    )
