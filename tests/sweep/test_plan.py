"""Which jobs names, patterns, files and folders stand for."""

from pathlib import Path

import pytest

from explorer.model.errors import UsageError
from explorer.scenario.find import names, real_names
from explorer.sweep.jobs import jobs, scenarios_called
from tests.support.scenario_files import MINIMAL, written


def called(*patterns: str) -> list[str]:
    return list(scenarios_called(patterns))


def test_without_a_name_they_are_the_shipped_ones_in_order() -> None:
    assert called() == sorted(names())
    assert len(called()) >= 30


def test_names_and_patterns_stand_for_shipped_scenarios_in_the_order_given() -> None:
    assert called("lstm", "conv*") == ["lstm", "conv_bn_relu_pool", "conv_transpose"]
    assert called("real/*") == list(real_names())


def test_files_and_folders_stand_for_what_is_in_them(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "_help.py", "notes.txt"):
        written(tmp_path, MINIMAL, name)
    both = [str(tmp_path / "a.py"), str(tmp_path / "b.py")]
    assert called(str(tmp_path)) == both
    assert called(f"{tmp_path}/*") == both
    assert called(str(tmp_path / "b.py")) == both[1:]
    assert called(f"{tmp_path}/**/[ab].py") == both


def test_a_scenario_that_is_named_twice_is_run_once(tmp_path: Path) -> None:
    file = str(written(tmp_path, MINIMAL))
    assert called("lstm", "ls*", file, str(tmp_path)) == ["lstm", file]


@pytest.mark.parametrize("pattern", ["dense_mse.py", "den?", "", "no/such/folder"])
def test_what_stands_for_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"matches neither a shipped scenario, nor a \.py file"):
        scenarios_called([pattern])


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nor a folder of them"):
        scenarios_called([str(tmp_path)])


def test_studies_that_have_nets_of_their_own_are_none_of_a_scenario_s_jobs() -> None:
    planned = jobs(["lstm"], studies=True, timeout=5.0)
    assert [job.scenario for job in planned] == ["lstm"] * len(planned)
    studies = [job.study for job in planned]
    assert studies[0] == ""
    assert "tape-life" in studies
    assert "operators" not in studies
    assert len(set(studies)) == len(studies)


def test_options_reach_every_job() -> None:
    for job in jobs(
        ["lstm", "kinks"], device="cuda:1", fresh=True, timeout=7.0, request_timeout=3.0
    ):
        assert (job.wanted.device, job.fresh, job.timeout) == ("cuda:1", True, 7.0)
        assert job.request_timeout == 3.0
    with pytest.raises(UsageError, match="device"):
        jobs(["lstm"], device="abacus", timeout=7.0)
