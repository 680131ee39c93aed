"""What a study looks at."""

from pathlib import Path

import numpy as np
import pytest

from explorer.cli.study import exit_code
from explorer.model.arrays import pack
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.model.message import Text
from explorer.model.requests import Description, ParameterSpec, Role
from explorer.model.study import StudyRecord
from explorer.scenario.find import find
from explorer.store.store import Store
from explorer.topics import topic
from explorer.topics.devices.questions import MATRIX
from explorer.topics.question import Target
from explorer.topics.studies import record, refuse_other_names, refused_by_some, study, target
from explorer.workers.workers import Workers
from tests.support.scenario_files import MINDSPORE_NET, MINIMAL, written

DEVICES = topic("devices")


def test_a_study_looks_at_its_own_scenario_unless_another_is_named() -> None:
    assert Path(target(DEVICES, None, "cpu").scenario).name == "dense_mse.py"
    named = target(DEVICES, "polynomial", "cuda:0")
    assert (Path(named.scenario).name, named.device) == ("polynomial.py", "cuda:0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", "given.py:1: syntax error in the scenario file"),
        ("", "does not define inputs"),
    ],
)
def test_a_study_refuses_the_file_that_a_comparison_refuses(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError, match=said):
        target(DEVICES, str(written(tmp_path, text)), "cpu")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    raise ValueError('no way')\n", "the PyTorch net raises .*: ValueError: no way"),
        ("    import lies_beside\n", "lies_beside.py is in the scenario's folder"),
    ],
)
def test_a_study_refuses_a_net_that_raises_with_what_it_raised(
    body: str, said: str, tmp_path: Path, workers: Workers
) -> None:
    written(tmp_path, "", "lies_beside.py")
    file = written(tmp_path, MINIMAL.replace("    return None\n", body))
    store = Store(tmp_path / "store")
    for _ in range(2):  # nothing of it is stored
        with pytest.raises(ScenarioError, match=said):
            study(DEVICES, target(DEVICES, str(file), "cpu"), workers, store=store)


TWO_NETS = MINIMAL + MINDSPORE_NET
EXPECTED = "EXPECTED_DIFFERENCES = [{'engines': ('tape',), 'reason': 'r'}]\n"

RAISES = Measured(outcome="raised", error=Failure("ScenarioError", "no"))
ANSWERS = Measured(outcome="ok", figures={"cpu": {}})


def recorded(on: Target, **by_engine: Measured) -> StudyRecord[Text]:
    """The record of these answers of engines to MATRIX; an engine's hyphen is an underscore."""
    measured = {
        MATRIX.measurement_name(engine.replace("_", "-")): outcome
        for engine, outcome in by_engine.items()
    }
    return record(DEVICES, on, {}, measured)


def refused(file: Path, **by_engine: Measured) -> dict[str, str]:
    """What refused_by_some() says of these answers of engines to MATRIX."""
    on = Target(str(file))
    return refused_by_some(DEVICES, on, recorded(on, **by_engine))


@pytest.mark.slow
def test_what_one_engine_refuses_and_another_answers_is_told_unless_it_is_foreseen(
    tmp_path: Path,
) -> None:
    plain = written(tmp_path, TWO_NETS, "plain.py")
    declared = written(tmp_path, TWO_NETS + EXPECTED, "declared.py")
    told = {"devices.matrix.torch-tape": "no"}
    assert refused(plain, torch_tape=RAISES, torch_graph=ANSWERS) == told
    assert refused(declared, torch_tape=RAISES, torch_graph=ANSWERS) == {}
    # Of two tapes that are expected to differ from the graphs, one answers.
    assert refused(declared, torch_tape=RAISES, mindspore_tape=ANSWERS) == told
    assert refused(plain, torch_tape=RAISES, torch_graph=RAISES) == {}
    assert refused(plain, torch_tape=RAISES, mindspore_tape=Measured(outcome="not_defined")) == {}
    # What a study cannot look at says nothing of the net.
    limit = Measured(outcome="raised", error=Failure("RuntimeError", "no hooks here"))
    assert refused(plain, torch_tape=limit, torch_graph=ANSWERS) == {}


@pytest.mark.slow
def test_the_exit_code_tells_what_is_refused_by_one_engine_from_what_is_lost(
    tmp_path: Path,
) -> None:
    on = Target(str(written(tmp_path, TWO_NETS)))

    def code(**by_engine: Measured) -> int:
        return exit_code(DEVICES, on, recorded(on, **by_engine))

    assert code(torch_tape=ANSWERS, torch_graph=ANSWERS) == 0
    assert code(torch_tape=ANSWERS, torch_graph=RAISES) == 1
    lost = Measured(outcome="crashed", error=Failure("crashed", "signal 11"))
    assert code(torch_tape=ANSWERS, torch_graph=RAISES, mindspore_tape=lost) == 3


def test_a_study_with_nets_of_its_own_refuses_a_scenario() -> None:
    with pytest.raises(UsageError, match="takes no scenario"):
        target(topic("data-parallel"), "dense_mse", "cpu")
    assert target(topic("data-parallel"), None, "cpu") == Target("", "cpu")


def test_a_measurement_that_time_did_not_reach_is_lost(tmp_path: Path) -> None:
    on = Target(str(written(tmp_path, TWO_NETS)))
    unreached = Measured(outcome="not_asked", error=Failure("not_asked", "out of time"))
    reached = recorded(on, torch_tape=ANSWERS, torch_graph=unreached)
    assert exit_code(DEVICES, on, reached) == 3


def described(*names: str, role: Role = "trained") -> Description:
    """A net with parameters of these names."""
    value = pack(np.ones(2, np.float32))
    specs = tuple(ParameterSpec(name, name, role, value) for name in names)
    return Description(parameters=specs)


def test_a_study_that_starts_nets_by_names_refuses_weights_of_other_names() -> None:
    higher_order, file = topic("higher-order"), str(find("polynomial"))
    assert higher_order.starts_by_names

    def refuse(mindspore: Description, torch: Description) -> None:
        refuse_other_names(higher_order, file, {"mindspore": mindspore, "torch": torch})

    refuse(described("a", "b"), described("b", "a"))
    refuse(described("a", role="frozen"), described("b", role="buffer"))
    refuse_other_names(higher_order, file, {"torch": described("b")})
    with pytest.raises(ScenarioError) as refused_names:
        refuse(described("w", "a1", "a2", "a3", "a4"), described("w", "b"))
    said = str(refused_names.value)
    assert "only MindSpore's net has a1, a2, a3 and 1 more, and only PyTorch's b;" in said
    assert "PARAMETER_NAMES" in said
    with pytest.raises(ScenarioError, match="only PyTorch's none that the other lacks"):
        refuse(described("w", "a"), described("w"))
