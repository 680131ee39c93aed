"""The bar of a run: how much of all stages together is done, and what each stage has."""

import pytest

from explorer.web.progress import progress_text

Stages = dict[str, tuple[int, int]]


@pytest.mark.parametrize(
    ("stages", "part"),
    [
        ({"graphs": (0, 4), "noise": (0, 4)}, 0.0),
        ({"graphs": (3, 4), "noise": (1, 4)}, 0.5),
        ({"graphs": (1, 4), "noise": (3, 4)}, 0.5),
        ({"graphs": (4, 4), "noise": (0, 12)}, 0.25),
        ({"graphs": (4, 4), "noise": (12, 12)}, 1.0),
        ({"graphs": (0, 0)}, 0.0),
    ],
)
def test_the_bar_is_as_long_as_the_part_that_is_done_of_all_stages(
    stages: Stages, part: float
) -> None:
    fraction, text = progress_text(stages)
    assert fraction == part
    for stage, (done, total) in stages.items():
        assert f"{stage}: {done} of {total}" in text


def test_a_run_without_stages_says_what_it_waits_for() -> None:
    assert progress_text({}) == (0.0, "Starting the workers")
    assert progress_text({}, waits=True) == (0.0, "Waiting for the run of another visitor")
    assert "Waiting" not in progress_text({"graphs": (1, 2)}, waits=True)[1]
