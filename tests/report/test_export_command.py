"""The commands of the page of exports, read as the shell reads them, choose what was chosen there."""

import shlex
from typing import Any

import msgspec
import pytest
from typer.main import get_group

from explorer.cli.commands import app
from explorer.report.scenario.export import PROGRAM, PictureChoice, report_command

PLAIN = PictureChoice(scenario="net", engines=("torch-tape",), file_format="svg")

CHANGES: dict[str, Any] = {
    "scenario": "my nets/net.py",
    "engines": ("mindspore-graph", "torch-graph"),
    "case": "grad(0, has_aux)",
    "stage": "optimize",
    "view": "flow",
    "depth": 2,
    "device": "cuda:1",
}
"""Another value of each field that the command has an option for."""


def read(command: str) -> dict[str, Any]:
    """The values of a command's options, by their names."""
    words = shlex.split(command)
    assert tuple(words[: len(PROGRAM)]) == PROGRAM
    name, *rest = words[len(PROGRAM) :]
    values: dict[str, Any] = get_group(app).commands[name].make_context(name, rest).params
    return values


def test_these_are_all_fields_of_a_choice() -> None:
    # The ending of the file says which format it has.
    fields = {field.name for field in msgspec.structs.fields(PictureChoice)}
    assert fields == {*CHANGES, "file_format"}


@pytest.mark.parametrize("changed", [(), *((name,) for name in CHANGES), tuple(CHANGES)])
def test_a_picture_s_command_has_every_choice(changed: tuple[str, ...]) -> None:
    choice = msgspec.structs.replace(PLAIN, **{name: CHANGES[name] for name in changed})
    values = read(choice.command())
    assert values["name"] == choice.scenario
    assert tuple(values["engines"]) == choice.engines
    assert str(values["output"]) == choice.file_name
    assert (values["case"] or "", values["stage"] or "") == (choice.case, choice.stage)
    assert (values["view"], values["device"]) == (choice.view, choice.device)
    assert values["depth"] == str(choice.depth)
    if not changed:
        # It says what differs from the defaults, and nothing else.
        said = ["graph", "net", "--engine", "torch-tape", "-o", "net-torch-tape.svg"]
        assert shlex.split(choice.command())[len(PROGRAM) :] == said


@pytest.mark.parametrize(("device", "order"), [("cpu", 1), ("cuda:1", 1), ("cpu", 3), ("cuda", 2)])
def test_a_report_s_command_has_its_device_its_order_and_its_format(
    device: str, order: int
) -> None:
    values = read(report_command("my nets/net.py", "html", device, order))
    assert values["name"] == "my nets/net.py"
    assert (values["device"], values["order"]) == (device, order)
    assert "html" in values["formats"]
    assert ("--device" in report_command("net", "html", device, order)) is (device != "cpu")
