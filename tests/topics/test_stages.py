"""Verdicts on stages of a gradient graph: those of the recorded figures after a change."""

from explorer.topics.stages.questions import (
    BRANCH,
    GRADIENT_PASSES,
    GRAPH,
    OTHER_VALUES,
    TRAINING_PASSES,
)
from tests.support.rulings import Case, following
from tests.support.topics import Change, World, copied, put


def calls_written(times: int) -> Change:
    """The author wrote so many times as many calls."""

    def change(world: World) -> None:
        world[GRADIENT_PASSES, GRAPH]["written"] *= times

    return change


ONE, OTHER = "inputs times 1", "inputs times -1"

test_another_world_gets_another_verdict = following(
    [
        Case(27, copied(BRANCH, ["mindspore-tape"], OTHER, of=ONE), "holds"),
        Case(27, put(BRANCH, [GRAPH], OTHER, "fingerprint", value="0" * 12), "does_not_hold"),
        Case(27, put(OTHER_VALUES, [GRAPH], ONE, "compiled again", value=True), "does_not_hold"),
        Case(28, put(TRAINING_PASSES, [GRAPH], "passes", -1, "update", value=0), "does_not_hold"),
        Case(28, calls_written(2), "holds_with_changes"),
        Case(28, calls_written(4), "does_not_hold"),
    ]
)
