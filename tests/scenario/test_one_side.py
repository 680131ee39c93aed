"""What of a scenario's files counts for one framework: all but the nets of the others."""

from pathlib import Path

import pytest

from explorer import api
from explorer.model.engines import Framework
from explorer.scenario.find import find
from explorer.scenario.one_side import files_of, without_others
from explorer.scenario.own_nets import sent
from tests.support.scenario_files import written

TEXT = '''"""Two nets."""

import numpy as np

FACTOR = 2


def inputs():
    return {"x": np.ones(3, np.float32)}


def mindspore_net():
    from of_mindspore import net

    return net(FACTOR)


def torch_net():
    def net(x):
        return (x * FACTOR).sum()

    return net
'''


def digests(folder: Path, text: str, framework: Framework) -> dict[str, str]:
    """The files of a scenario with a text, as they count for a framework."""
    return files_of(written(folder, text, "given.py"), framework)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path, "def net(factor): ...\n", "of_mindspore.py")
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "torch", "mindspore"),
    [
        ("return net(FACTOR)", "return net(3)", False, True),
        ("x * FACTOR", "x * 3", True, False),
        ("FACTOR = 2", "FACTOR = 3", True, True),
        ("np.ones", "np.zeros", True, True),
        # The lines of PyTorch's net, which its graph tells, are others.
        ("return net(FACTOR)", "return net(\n        FACTOR\n    )", True, True),
        ("    return net\n", "    # the same lines above\n    return net\n", True, False),
    ],
)
def test_a_change_counts_for_the_framework_whose_worker_may_notice_it(
    old: str, new: str, torch: bool, mindspore: bool, folder: Path
) -> None:
    assert TEXT.count(old) == 1
    before = digests(folder, TEXT, "torch"), digests(folder, TEXT, "mindspore")
    changed = TEXT.replace(old, new)
    assert (digests(folder, changed, "torch") != before[0]) == torch
    assert (digests(folder, changed, "mindspore") != before[1]) == mindspore


def test_what_the_other_net_alone_imports_does_not_count(folder: Path) -> None:
    assert set(digests(folder, TEXT, "mindspore")) == {"folder", "given.py", "of_mindspore.py"}
    assert set(digests(folder, TEXT, "torch")) == {"folder", "given.py"}


@pytest.mark.parametrize(
    "use",
    [
        "NETS = [mindspore_net]\n",
        "NETS = globals()['mindspore_net']\n",
        "import a\na.mindspore_net()\n",
    ],
)
def test_a_net_that_something_else_names_counts_for_all(use: str) -> None:
    text = (TEXT + use).encode()
    assert without_others(text, "torch") == text
    assert without_others(text, "jax") == text


def test_a_decorated_net_is_left_out_with_its_decorator() -> None:
    text = TEXT.replace("def mindspore_net", "@of_mindspore(2)\ndef mindspore_net")
    left = without_others(text.encode(), "torch").decode()
    assert "of_mindspore" not in left
    assert left.split("\n").index("def torch_net():") == text.split("\n").index("def torch_net():")


def test_a_text_that_is_not_python_counts_whole() -> None:
    assert without_others(b"def torch_net(:\n", "mindspore") == b"def torch_net(:\n"


def test_the_folder_of_a_users_file_counts_and_that_of_a_shipped_one_does_not(
    folder: Path, tmp_path: Path
) -> None:
    # Programs that are printed add it to Python's path.
    (tmp_path / "other").mkdir()
    here, there = digests(folder, TEXT, "torch"), digests(tmp_path / "other", TEXT, "torch")
    assert here["given.py"] == there["given.py"]
    assert here != there
    assert "folder" not in files_of(find("dense_mse"), "torch")


def test_of_nets_of_ones_own_the_other_sides_package_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("in_torch_side", "in_mindspore_side"):
        written(tmp_path, "class Net:\n    size = 1\n", f"{name}.py")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sent").mkdir()

    def counted() -> list[dict[str, str]]:
        nets = api.nets(
            torch="in_torch_side:Net", mindspore="in_mindspore_side:Net", inputs={"x": [1.0]}
        )
        path = sent(nets, tmp_path / "sent").path
        return [files_of(path, "torch"), files_of(path, "mindspore")]

    before = counted()
    written(tmp_path, "class Net:\n    size = 2\n", "in_mindspore_side.py")
    after = counted()
    assert after[0] == before[0]
    assert after[1] != before[1]
