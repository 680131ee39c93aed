"""A sweep on a real Dask cluster: scenario files travel, a lost worker loses nothing, versions are told."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from explorer.exploration.options import Wanted
from explorer.scenario.find import FOLDER, REAL
from explorer.store.keys import installation
from explorer.sweep.execution import carried, mismatches
from explorer.sweep.records import SweepJob
from explorer.words.sweeps import mismatch
from tests.support.clusters import cluster
from tests.support.command_line import ROOT, explorer
from tests.support.scenario_files import MINIMAL, written
from tests.support.sweep_runs import (
    are_gone,
    descendants,
    nets,
    one_at_work,
    rows,
    sweeping,
    until_first_is_done,
)


def job(path: Path) -> SweepJob:
    return SweepJob(scenario=path.stem, file=str(path), wanted=Wanted(), timeout=60.0)


def test_a_scenario_travels_with_what_it_imports_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts", "SIZE = 2\n", "sizes.py")
    written(tmp_path, "OTHER = 3\n", "other.py")
    file = written(tmp_path, f"import parts.sizes\n{MINIMAL}")
    sent = carried(job(file))
    assert set(sent.files) == {"given.py", "parts/sizes.py"}
    assert sent.files["parts/sizes.py"] == b"SIZE = 2\n"
    assert not sent.shipped


def test_a_shipped_scenario_travels_by_its_name(tmp_path: Path) -> None:
    assert carried(job(FOLDER / "lstm.py")).shipped == "lstm"
    sent = carried(job(REAL / "gpt.py"))
    assert (sent.shipped, sent.files) == ("real/gpt", {})


@pytest.mark.whole
@pytest.mark.slow
def test_no_scheduler_and_no_workers_are_told(tmp_path: Path) -> None:
    nobody = explorer("sweep", "lstm", "--scheduler", "tcp://127.0.0.1:9", cwd=tmp_path)
    assert nobody.returncode == 2
    assert "no Dask scheduler can be reached at 'tcp://127.0.0.1:9'" in nobody.stderr
    with cluster(tmp_path) as alone:
        done = explorer("sweep", "lstm", "--scheduler", alone.address, cwd=tmp_path)
    assert done.returncode == 2
    assert "has no workers; start some with `dask worker tcp://" in done.stderr


@pytest.mark.torch
@pytest.mark.whole
def test_a_worker_is_killed_in_the_middle_and_nothing_is_lost_nor_twice(tmp_path: Path) -> None:
    folder = tmp_path / "nets"
    folder.mkdir()
    names = ["a", "b", "c", "d", "e"]
    nets(folder, *names)
    # The last one has a part of its text in another file.
    importing = "import sys\n\nsys.path.insert(0, __file__.rpartition('/')[0])\nimport helper\n"
    text = (folder / "e.py").read_text()
    written(folder, text.replace("import numpy", f"{importing}import numpy"), "e.py")
    written(folder, "", "helper.py")
    with cluster(tmp_path) as started:
        started.add_worker()
        started.add_worker()
        arguments = [f"nets/{name}.py" for name in names]
        options = ("--scheduler", started.address, "--out", "out")
        with sweeping(*arguments, *options, cwd=tmp_path) as process:
            until_first_is_done(process)
            victim = one_at_work(started.workers)
            theirs = descendants(victim)
            victim.kill()
            assert are_gone(theirs)
            said, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        found = rows(tmp_path / "out")
        assert list(found) == names
        assert {row["verdict"] for row in found.values()} == {"as_expected"}
        assert said.count("as expected") == len(names) + 1  # the last is the summary's


@pytest.mark.torch
@pytest.mark.whole
def test_a_worker_with_another_version_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "explorer", other / "explorer")
    shutil.copytree(ROOT / "scenarios", other / "scenarios")
    with (other / "explorer" / "shipped.py").open("a") as file:
        file.write("# another version\n")
    nets(tmp_path, "a")
    with cluster(tmp_path) as started:
        started.add_worker(other)
        done = explorer("sweep", "a.py", "--scheduler", started.address, cwd=tmp_path)
    assert "has another version of the explorer's code" in done.stdout
    assert done.returncode == 0, done.stderr


@pytest.mark.whole
@pytest.mark.slow
def test_the_compose_file_starts_what_the_project_s_image_has() -> None:
    compose = yaml.safe_load((ROOT / "docs" / "how-to" / "compose.yaml").read_text())
    project = (ROOT / "pyproject.toml").read_text()
    (dask,) = re.findall(r'^cluster = \["(.*)"\]', project, re.MULTILINE)
    for service in compose["services"].values():
        build = service["build"]
        image = ROOT / "docs" / "how-to" / build["context"] / "Dockerfile"
        (argument,) = build["args"]
        assert f"ARG {argument}=" in image.read_text()
        (pin,) = Requirement(build["args"][argument]).specifier
        assert pin.operator == "=="
        assert Requirement(dask).specifier.contains(pin.version)
        python, *words = service["command"].split()
        # The options are ones that Dask has: with --help after them it says what it would take.
        said = subprocess.run([sys.executable, *words, "--help"], capture_output=True, check=False)
        assert (python, said.returncode) == ("python", 0), said.stderr


class Elsewhere:
    """A client of one worker, whose installation is another one in one fact."""

    def __init__(self, **other: str) -> None:
        self._other = other

    def run(self, installation: Callable[[], dict[str, str]]) -> dict[str, dict[str, str]]:
        return {"tcp://1": {**installation(), **self._other}}


@pytest.mark.parametrize("name", ["python", "mindspore", "torch", "numpy"])
def test_another_version_on_a_worker_is_told_beside_the_one_here(name: str) -> None:
    ((address, versions),) = mismatches(Elsewhere(**{name: "0.1"})).items()
    assert (
        mismatch(address, versions)
        == f"the worker tcp://1 has {name} 0.1 (here {installation()[name]})"
    )


def test_a_worker_with_the_same_versions_on_another_machine_is_no_mismatch() -> None:
    assert mismatches(Elsewhere(units="none", driver="550")) == {}
