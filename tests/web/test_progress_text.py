"""The bar of a run: how much of all stages together is done, and what each stage has."""

import pytest

from explorer.exploration.about import STARTING
from explorer.exploration.jobs import GRAPHS_STAGE, NOISE_STAGE, ORACLE_STAGE
from explorer.text.language import said_in
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


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (GRAPHS_STAGE, "梯度图：1/2"),
        (NOISE_STAGE, "噪声：1/2"),
        (ORACLE_STAGE, "中心差分：1/2"),
        (STARTING, "启动工作进程：1/2"),
        ("measurements", "测量：1/2"),
        ("torch-tape", "torch-tape：1/2"),
    ],
)
def test_the_stages_of_a_run_are_named_in_the_reader_s_language(stage: str, text: str) -> None:
    with said_in("zh"):
        assert progress_text({stage: (1, 2)}) == (0.5, text)
