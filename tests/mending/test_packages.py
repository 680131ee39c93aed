"""The patch of a net in a package: its files are changed in a copy, which is imported in its place."""

import subprocess
from pathlib import Path

import msgspec
import numpy as np
import pytest

import explorer
from explorer.mending.asked import asked
from explorer.model.errors import UsageError
from explorer.scenario.declaration import Declaration, Factory
from tests.support import tables

FILES = tables.package(__file__, "ported_block")

LINES = [
    "-        self.norm = nn.LayerNorm((WIDTH,))  # as in the paper",
    "+        self.norm = nn.LayerNorm((WIDTH,), epsilon=1e-05)  # as in the paper",
    "-        return (super().construct(x) ** 2).sum()",
    "+        return (super().construct(x) ** 2).mean()",
]


def test_engines_are_asked_where_their_nets_are_at_home() -> None:
    net = Factory("package", "net", "folder")
    both = Declaration(name="net", file="net", title="", nets={"torch": net, "mindspore": net})
    nets = msgspec.structs.replace(both, homes={"torch": "old"})
    found = asked(nets, "torch-tape", "mindspore-tape", "torch", "cpu")
    assert found == (("torch-tape@old", "mindspore-tape"), "left")
    with pytest.raises(UsageError, match="unknown engine 'torch-tap'"):
        asked(nets, "torch-tap", "mindspore-tape", "", "cpu")


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
def test_mistakes_in_two_files_of_a_package_are_one_patch_which_is_written_where_nothing_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "ported_block"
    package.mkdir()
    for name, text in FILES.items():
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    inputs = {"x": np.random.default_rng(0).normal(size=(3, 6)).astype(np.float32)}
    nets = explorer.nets(
        mindspore="ported_block.in_mindspore:Net", torch="ported_block.in_torch:Net", inputs=inputs
    )
    with pytest.raises(AssertionError) as failure:
        explorer.assert_same_gradients(nets, mend=True)
    mended = explorer.mend(nets)
    assert str(failure.value).endswith(mended.patch.rstrip("\n"))
    changed = [
        it for it in mended.patch.splitlines() if it[0] in "+-" and it[:3] not in ("+++", "---")
    ]
    assert sorted(changed) == sorted(LINES)
    assert mended.proof is not None
    assert mended.proof.matching == mended.proof.cases
    assert "cases match" in repr(mended)
    assert {name: (package / name).read_text() for name in FILES} == FILES
    subprocess.run(["git", "apply", "--check", "-"], input=mended.patch, text=True, check=True)

    assert {path.name for path in mended.apply()} == {"blocks.py", "in_mindspore.py"}
    assert "epsilon=1e-05" in (package / "blocks.py").read_text()
    assert explorer.diff(nets, "torch-tape", "mindspore-tape").is_same
    with pytest.raises(UsageError, match="was changed meanwhile"):
        mended.apply()
    again = explorer.mend(nets)
    assert (again.is_mended, again.patch) == (True, "")
    assert str(again).startswith("nothing to mend")
