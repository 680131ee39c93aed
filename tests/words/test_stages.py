"""The stages of compilers, in the order in which they are chosen from."""

from explorer.model.graph import GradGraph
from explorer.model.passes import BEFORE, PASSES
from explorer.words.graphs import STAGES, in_order_of_stages


def graphs(*stages: str) -> list[GradGraph]:
    return [GradGraph(engine="any", case="any", stage=it, nodes=(), edges=()) for it in stages]


def names(found: list[GradGraph]) -> list[str]:
    return [graph.stage for graph in found]


def test_the_compiled_program_is_chosen_behind_the_one_that_is_compared() -> None:
    captured = graphs("hlo", "jaxpr")  # the one that is compared stands last
    assert names(in_order_of_stages(captured)) == ["jaxpr", "hlo"]


def test_passes_stay_in_their_order_and_each_has_the_one_before() -> None:
    stages = [each.stage for each in PASSES]
    assert names(in_order_of_stages(graphs(*reversed(stages)))) == stages
    assert [BEFORE.get(stage) for stage in stages] == [None, *stages[:-1]]


def test_a_stage_of_its_own_name_changes_nothing_in_what_it_is_compared_with() -> None:
    """What XLA makes has other operations: nothing of it is "new" beside the stage before."""
    assert "hlo" in STAGES
    assert "hlo" not in BEFORE
