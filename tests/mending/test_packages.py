"""The patch of a net in a package: its files are changed in a copy, which is imported in its place."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.model.errors import UsageError
from tests.support import tables

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

FILES = tables.package(__file__, "ported_block")

LINES = [
    "-        self.norm = nn.LayerNorm((WIDTH,))  # as in the paper",
    "+        self.norm = nn.LayerNorm((WIDTH,), epsilon=1e-05)  # as in the paper",
    "-        return (super().construct(x) ** 2).sum()",
    "+        return (super().construct(x) ** 2).mean()",
]


@pytest.mark.usefixtures("warm")
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
    assert mended.is_mended
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

    written = mended.apply()
    assert {path.name for path in written} == {"blocks.py", "in_mindspore.py"}
    assert "epsilon=1e-05" in (package / "blocks.py").read_text()
    assert explorer.diff(nets, "torch-tape", "mindspore-tape").is_same
    with pytest.raises(UsageError, match="was changed meanwhile"):
        mended.apply()
    again = explorer.mend(nets)
    assert (again.is_mended, again.patch) == (True, "")
    assert str(again).startswith("nothing to mend")
