"""Keys: everything that a result depends on, and nothing else, gives another one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.environments.interpreters import PACKAGES, own, versions
from explorer.exploration.options import Wanted
from explorer.exploration.stored import key
from explorer.model.environments import Environment
from explorer.scenario.find import files_read
from explorer.scenario.load import load
from explorer.scenario.one_side import files_of
from explorer.store import keys
from explorer.store.keys import Key, key_in, key_of
from explorer.store.store import REPLY
from tests.support.house import FLOORS
from tests.support.nets import NETS

SQUARE = NETS / "square.py"

REMEMBERED = keys._here, keys.digest_of_parts


def forget() -> None:
    """What is remembered of the installation is looked at anew."""
    for function in REMEMBERED:
        function.cache_clear()


@pytest.fixture(autouse=True)
def looked_at_anew() -> Iterator[None]:
    """No test has what another one has seen of the installation."""
    forget()
    yield
    forget()


def test_each_part_of_a_key_counts() -> None:
    digests = {
        key_of("scenario", "square", 1).digest,
        key_of("scenario", "square", 2).digest,
        key_of("scenario", "square").digest,
        key_of("scenario", "cube", 1).digest,
        key_of("measurement", "square", 1).digest,
    }
    assert len(digests) == 5


@pytest.mark.parametrize(
    "fact", ["explorer", "mindspore", "torch", "numpy", "python", "system", "machine", "units"]
)
def test_another_installation_has_other_keys(fact: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = key_of("scenario", "square")
    facts = keys.installation()
    assert fact in facts
    monkeypatch.setattr(keys, "installation", lambda: {**facts, fact: "another"})
    assert key_of("scenario", "square") != here


@pytest.mark.parametrize(
    "package",
    ["mindspore", "torch", "numpy", "keras", "scipy", "networkx", "flax", "optax", "equinox"],
)
def test_another_version_of_a_package_that_takes_part_is_another_installation(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = keys.installation()

    def other(environment: Environment, packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
        return {**versions(environment, packages), package: "0"}

    monkeypatch.setattr("explorer.store.keys.versions", other)
    assert keys.installation() == {**here, package: "0"}


def test_of_a_framework_that_is_not_installed_there_is_no_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("explorer.store.keys.versions", lambda *_: {})
    assert set(keys.versions_here().values()) == {"none"}


def test_what_is_installed_in_an_environment_is_part_of_a_key_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def key() -> Key:
        return key_in(own(), REPLY, "square", 1)

    here = key()
    assert key() == here
    monkeypatch.setattr("explorer.store.keys.versions", lambda _: {"torch": "0"})
    other = key()
    monkeypatch.setattr("explorer.store.keys.versions", lambda _: {"torch": "1"})
    assert len({here, other, key()}) == 3


def test_every_fact_of_an_installation_is_a_text() -> None:
    assert {type(fact) for fact in keys.installation().values()} == {str}


def test_another_driver_is_another_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "DRIVER", tmp_path / "version")
    assert keys.installation()["driver"] == ""
    forget()
    (tmp_path / "version").write_text("550.54")
    assert keys.installation()["driver"] == "550.54"


@pytest.mark.parametrize(
    "other",
    [
        Wanted(engines=("torch-tape",)),
        Wanted(device="cuda"),
        Wanted(order=2),
        Wanted(graph_case="grad(0)"),
        Wanted(selection="main"),
        Wanted(prove="all"),
    ],
)
def test_whatever_is_asked_otherwise_has_another_key(other: Wanted) -> None:
    scenario = load(SQUARE)
    assert key(scenario, other) != key(scenario, Wanted())
    assert key(scenario, Wanted()) == key(load(SQUARE), Wanted())


def test_another_device_that_a_worker_chose_for_a_framework_has_another_key() -> None:
    scenario, wanted = load(SQUARE), Wanted(device="auto")
    found = [
        key(scenario, wanted, {"torch": "cpu", "mindspore": "cpu"}),
        key(scenario, wanted, {"torch": "cuda", "mindspore": "cpu"}),
        key(scenario, wanted, {"torch": "cpu", "mindspore": "cuda"}),
    ]
    assert len({each.digest for each in found}) == 3


def test_a_change_of_the_file_is_another_key(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(SQUARE.read_text())
    before = key(load(path), Wanted())
    path.write_text(SQUARE.read_text() + "\n")
    assert key(load(path), Wanted()) != before


def test_the_files_that_are_read_are_those_imported_from_the_folder(tmp_path: Path) -> None:
    net = tmp_path / "net.py"
    net.write_text(
        "import numpy\ndef torch_net():\n    from parts.block import f\n    import helper\n"
    )
    (tmp_path / "helper.py").write_text("from parts import other\nimport net\n")
    (tmp_path / "parts").mkdir()
    for name in ("__init__.py", "block.py", "other.py"):
        (tmp_path / "parts" / name).touch()
    (tmp_path / "unused.py").touch()
    (tmp_path / "numpy.txt").touch()
    before = files_read(net)
    assert set(before) == {
        "net.py",
        "helper.py",
        "parts/__init__.py",
        "parts/block.py",
        "parts/other.py",
    }
    (tmp_path / "helper.py").write_text("a = 2\n")
    after = files_read(net)
    assert after["helper.py"] != before["helper.py"]
    assert after["net.py"] == before["net.py"]


def test_a_variable_of_the_environment_that_a_text_names_is_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = tmp_path / "net.py"
    net.write_text("import os, helper\nSLOPE = os.environ.get('NET_SLOPE', '0')\n")
    (tmp_path / "helper.py").write_text("def read(name): return os.getenv(name)\n")
    unset = files_read(net)
    monkeypatch.setenv("NET_OTHER", "1")
    assert files_read(net) == unset
    monkeypatch.setenv("NET_SLOPE", "0.1")
    steep = files_read(net)
    monkeypatch.setenv("NET_SLOPE", "0.2")
    seen = [unset, steep, files_read(net)]
    assert len({files["net.py"] for files in seen}) == 3
    assert len({files["helper.py"] for files in seen}) == 1
    sides = [files_of(net, "torch")["net.py"]]
    monkeypatch.delenv("NET_SLOPE")
    assert files_of(net, "torch")["net.py"] not in sides


def test_the_same_files_elsewhere_have_the_same_key(tmp_path: Path) -> None:
    copy = tmp_path / SQUARE.name
    copy.write_text(SQUARE.read_text())
    assert key(load(copy), Wanted()) == key(load(SQUARE), Wanted())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a few files in the place of the explorer."""
    for name in ("web/a.py", "drawing/a.py", "compare/a.py", "compare/a.toml", "a.py", "pages.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a = 1\n")
    monkeypatch.setattr(keys, "PACKAGE", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "is_of_results", "is_of_faces"),
    [
        ("web/a.py", False, True),
        ("drawing/a.py", False, True),
        ("compare/a.py", True, False),
        ("compare/a.toml", True, False),
        ("a.py", True, False),
        ("pages.py", True, True),
    ],
)
def test_what_only_shows_results_is_in_no_key_and_a_digest_of_parts_is_of_theirs_alone(
    changed: str, is_of_results: bool, is_of_faces: bool, package: Path
) -> None:
    results, faces = (
        keys.installation()["explorer"],
        keys.digest_of_parts("drawing", "web", "pages"),
    )
    (package / changed).write_text("a = 2\n")
    forget()
    assert (keys.installation()["explorer"] != results) is is_of_results
    assert (keys.digest_of_parts("drawing", "web", "pages") != faces) is is_of_faces


def test_a_file_of_another_name_is_other_code(package: Path) -> None:
    before = keys.installation()["explorer"]
    forget()
    (package / "compare" / "a.py").rename(package / "compare" / "levels.py")
    assert keys.installation()["explorer"] != before


def test_no_part_that_makes_results_stands_on_what_is_in_no_key() -> None:
    floors = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}
    assert all(floors[face] >= floors["topics"] for face in keys.FACES)
    assert {"topics", "sweep", "fuzz"}.isdisjoint(keys.FACES)


@pytest.mark.parametrize(
    "name", ["CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_HOME_PATH"]
)
def test_whatever_says_which_devices_are_there_is_in_every_key(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name, raising=False)
    before = key_of("scenario", "square")
    forget()
    monkeypatch.setenv(name, "1")
    assert key_of("scenario", "square") != before
