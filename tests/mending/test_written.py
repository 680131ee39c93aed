"""A patch as it is printed, and as it is written into the file."""

import subprocess
from pathlib import Path

import pytest

from explorer.mending.asked import apply
from explorer.mending.hints import Net
from explorer.mending.source import Change, Source
from explorer.model.errors import UsageError
from explorer.model.patch import Mended, Patch, Proof
from explorer.report.patch import patch_lines

PROOF = Proof(engines=("torch-tape", "jax-tape"), cases=3, matching=3)


def patch_of(folder: Path, before: str, after: str) -> Patch:
    file = folder / "port.py"
    file.write_bytes(before.encode())
    return Patch(files=(Mended(str(file), before, after),), proof=PROOF)


@pytest.mark.parametrize("head", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n"])
def test_git_applies_what_is_printed_to_any_line_ends_and_any_last_line(
    head: str, end: str, last: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = (f"{head}größe = f(a)\n\nb = a  # \x0c\u2028{last}").replace("\n", end)
    source = Source(before)
    (argument,) = next(source.calls()).args
    found = patch_of(tmp_path, before, source.changed([source.put(argument, "-a")]))
    assert found.files[0].after == before.replace("f(a)", "f(-a)")
    printed = "\n".join(patch_lines(found, ("torch-tape", "jax-tape"))) + "\n"
    assert printed.startswith("# a copy with this patch: 3 of 3 cases match")
    subprocess.run(["git", "apply", "-"], input=printed.encode(), check=True, cwd=tmp_path)
    assert Path(found.files[0].file).read_bytes() == found.files[0].after.encode()


def test_a_file_that_is_no_text_in_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "port.py"
    file.write_bytes("# -*- coding: latin-1 -*-\ngröße = 1\n".encode("latin-1"))
    with pytest.raises(UsageError, match="no text of Python in UTF-8"):
        Source.of(file)


def test_nothing_but_the_net_that_is_mended_is_changed() -> None:
    names = ("inputs", "torch_net", "mindspore_net", "helper")
    source = Source("".join(f"def {name}():\n    return {name}_made\n" for name in names))
    net = Net(source, "mindspore", "torch", "right")
    held = [net.holds((Change(start, start, ""),)) for _, (start, _) in source.functions()]
    assert held == [False, False, True, True]


def test_a_file_that_was_changed_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    found = patch_of(tmp_path, "a = 1\n", "a = 2\n")
    apply(found)
    assert Path(found.files[0].file).read_text() == "a = 2\n"
    with pytest.raises(UsageError, match="was changed meanwhile"):
        apply(found)
