"""How dynamic scalers live: their scale through a training, and how low and how high it goes."""

from collections.abc import Iterator
from typing import Any

from explorer.model.study import Cell, Chart, Series, Table
from explorer.text.numbers import number
from explorer.topics.cells import why_empty
from explorer.topics.evidence import Evidence
from explorer.topics.loss_scale.inputs import BATCHES, FACTOR, WINDOW
from explorer.topics.loss_scale.life import counts, same_scales
from explorer.topics.loss_scale.questions import LIFE, LIMITS, TOPIC
from explorer.topics.loss_scale.wording import SCALER_NAMES, by_name, shown

# The scale through a training


def lives(evidence: Evidence) -> list[tuple[str, list[dict[str, Any]]]]:
    """The steps of each scaler; MindSpore's styles stand together where they agree, GradScaler
    always alone.
    """
    # The two classes are what is compared, so they are told apart even where they agree.
    turns = {party: figures["turns"] for party, figures in evidence[LIFE].items()}
    gradscaler = {party: turns.pop(party) for party in ("torch",) if party in turns}
    return [*by_name(turns, SCALER_NAMES), *by_name(gradscaler, SCALER_NAMES)]


@TOPIC.finding()
def steps_of_life(evidence: Evidence) -> Iterator[str]:
    """The life of each scaler in a sentence, each clause counted; and where their scales agree."""
    scalers = lives(evidence)
    for scaler, turns in scalers:
        count = counts(turns)
        yield (
            f"{scaler}: {count['overflows']} of {len(turns)} steps overflow; {count['skipped']} of "
            f"these are skipped, and after {count['shrunk']} the scale is divided by {FACTOR}; it "
            f"grows {count['grown']} times, {count['on time']} of them after {WINDOW} finite steps "
            "in a row."
        )

    if len(scalers) > 1:
        names = " and ".join(scaler for scaler, _ in scalers)
        same = same_scales(turns for _, turns in scalers)
        yield (
            f"With the same settings {names} have the same scale at {same} of {len(BATCHES)} steps."
        )


@TOPIC.table()
def life_step_by_step(evidence: Evidence) -> Iterator[Table]:
    """Scale, overflow and step of every scaler at every step."""
    scalers = lives(evidence)
    columns = ["step", "slope"]
    for scaler, _ in scalers:
        columns += [f"scale, {scaler}", f"overflow, {scaler}", f"stepped, {scaler}"]

    rows: list[tuple[Cell, ...]] = []
    if scalers:
        for step, slope in enumerate(BATCHES):
            row: list[Cell] = [step, slope]
            for _, turns in scalers:
                turn = turns[step]
                row += [turn["scale"], not turn["finite"], turn["stepped"]]
            rows.append(tuple(row))

    note = (
        f"Factor {FACTOR}, window {WINDOW}: the scalers are given the same settings and the same "
        "slopes."
    )
    yield Table(
        title="The life of a dynamic scaler, step by step",
        columns=tuple(columns),
        rows=tuple(rows),
        note=f"{note} {why_empty(evidence, LIFE)}".strip(),
    )


@TOPIC.chart()
def scale_through_training(evidence: Evidence) -> Iterator[Chart]:
    """The scale of every scaler at every step."""
    steps = tuple(map(float, range(len(BATCHES))))
    series = []
    for scaler, turns in lives(evidence):
        series.append(Series(scaler, steps, tuple(turn["scale"] for turn in turns)))
    steepest = max(BATCHES)
    calm = BATCHES.index(min(BATCHES))
    if series:
        yield Chart(
            name="life",
            title="The scale through training",
            kind="steps",
            x="step",
            y="loss scale",
            series=tuple(series),
            log=("y",),
            note=(
                f"A batch {steepest:g} times as steep comes at step {BATCHES.index(steepest)}, "
                f"calm ones from step {calm} on."
            ),
        )


# How low and how high


def limits(evidence: Evidence) -> list[tuple[str, tuple[list[Any], list[Any]]]]:
    """The scales of each scaler with an overflow at every step, and with a growth at every step."""
    answers = {
        party: (figures["down"], figures["up"]) for party, figures in evidence[LIMITS].items()
    }
    return by_name(answers, SCALER_NAMES)


@TOPIC.finding()
def lowest_and_highest_scale(evidence: Evidence) -> Iterator[str]:
    """From where to where overflows and growths take each scaler."""
    for scaler, (down, up) in limits(evidence):
        ceiling = max(map(number, up))  # an infinite scale is spelt in words
        end = "stays there" if down[-1] == down[-2] else "is still falling"
        yield (
            f"Overflow at every step takes the scale of {scaler} from {shown(down[0])} to "
            f"{shown(down[-1])} in {len(down) - 1} steps, and it {end}; growth at every step takes "
            f"it from {shown(up[0])} to {shown(ceiling)}."
        )


@TOPIC.table()
def scales_on_the_way(evidence: Evidence) -> Iterator[Table]:
    """All scales on the way down and on the way up."""
    rows: list[tuple[Cell, ...]] = []
    for scaler, (down, up) in limits(evidence):
        rows.append((scaler, "overflow at every step", shown(down)))
        rows.append((scaler, "growth at every step", shown(up)))
    yield Table(
        title="How low and how high a scale goes",
        columns=("scaler", "what happens", "scales"),
        rows=tuple(rows),
        note=why_empty(evidence, LIMITS),
    )


@TOPIC.chart()
def overflow_at_every_step(evidence: Evidence) -> Iterator[Chart]:
    """The scale on the way down."""
    series = []
    for scaler, (down, _) in limits(evidence):
        steps = tuple(map(float, range(len(down))))
        series.append(Series(scaler, steps, tuple(map(number, down))))
    if series:
        yield Chart(
            name="floor",
            title="Overflow at every step",
            kind="steps",
            x="step",
            y="loss scale",
            series=tuple(series),
            log=("y",),
        )
