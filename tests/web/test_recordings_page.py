"""The page of recorded steps: traces of the owner's folders alone, one, or two beside each other."""

from pathlib import Path

import msgspec
import pytest

from explorer.model.training import Batch
from explorer.recording.files import write_trace, write_training
from explorer.web.recordings import VARIABLE, offered_files
from explorer.web.recordings_page import recordings
from tests.recording.test_trace_files import sample
from tests.recording.test_training_files import step, training
from tests.support.pages import address, said, shown

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = tmp_path / "traces"
    inside.mkdir()
    monkeypatch.setenv(VARIABLE, str(inside))
    return inside


def test_without_a_trace_the_page_says_where_it_looks_and_how_one_is_made(folder: Path) -> None:
    page = shown(recordings)
    assert not page.exception
    assert folder.name in page.info[0].value
    assert "explorer.record(" in page.code[0].value


def test_traces_of_one_name_are_called_after_their_folders(folder: Path) -> None:
    for place in ("before", "after"):
        (folder / place).mkdir()
        write_trace(folder / place / "step.trace", sample())
    write_trace(folder / "alone.trace", sample())
    assert list(offered_files()) == ["after/step.trace", "alone.trace", "before/step.trace"]


def test_a_link_out_of_the_folder_is_not_offered(folder: Path) -> None:
    write_trace(folder.parent / "secret.trace", sample())
    (folder / "link.trace").symlink_to(folder.parent / "secret.trace")
    (folder / "out").symlink_to(folder.parent)
    assert offered_files() == {}


def test_two_traces_stand_beside_each_other_as_an_address_says(folder: Path) -> None:
    write_trace(folder / "one.trace", sample())
    write_trace(folder / "two.trace", msgspec.structs.replace(sample(), name="two"))
    page = shown(recordings, file="one.trace", beside="two.trace")
    assert not page.exception
    assert "The two graphs agree" in page.success[0].value
    assert "**one.trace**" in said(page)
    assert "**two.trace**" in said(page)
    assert address(page)["beside"] == "two.trace"


def test_two_trainings_are_compared_above_the_graphs_of_the_step_of_their_first_difference(
    folder: Path,
) -> None:
    write_training(folder / "one.training", training(step(1), step(2)))
    other = msgspec.structs.replace(step(1), batches=(Batch(loss=7.0),))
    write_training(folder / "two.training", training(other, step(2)))
    write_trace(folder / "step.trace", sample())
    page = shown(recordings, file="one.training", beside="two.training")
    assert not page.exception
    assert "first difference in step 1, loss" in page.warning[0].value
    assert page.selectbox[1].options == ["two.training"]  # and no trace
    assert [heading.value for heading in page.subheader][-1] == (
        "The graphs of step 1, where they first differ"
    )
    assert "[From the first red cell to its graphs](#graphs)" in said(page)
    assert "The two graphs agree" in page.success[0].value


def test_a_file_alone_shows_what_it_holds_and_a_broken_one_is_one_message(folder: Path) -> None:
    write_trace(folder / "one.trace", sample())
    write_training(folder / "one.training", training(step(1), step(2)))
    page = shown(recordings, file="one.trace")
    assert not page.exception
    assert "**one.trace**" in said(page)
    assert not page.error
    page = shown(recordings, file="one.training")
    assert not page.exception
    assert "optimizer" in page.code[0].value
    content = (folder / "one.trace").read_bytes()
    (folder / "one.trace").write_bytes(content[:-1])
    page = shown(recordings, file="one.trace")
    assert not page.exception
    assert "digest differs" in page.error[0].value
