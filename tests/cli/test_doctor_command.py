"""The ``doctor`` command on this very machine."""

import json

import pytest

from explorer.cli.entry import run


@pytest.mark.slow
@pytest.mark.usefixtures("warm")
def test_doctor_tells_versions_devices_and_what_is_missing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code = run(["doctor", "--json"])
    checks = {check["name"]: check for check in json.loads(capfd.readouterr().out)["checks"]}
    packages = {"numpy", "keras", "streamlit", "graphviz", "pygraphviz"}
    assert set(checks) >= {"python", "mindspore", "torch", "layout", "chromium", *packages}
    is_lost = False
    for check in checks.values():
        if not check["fine"]:
            assert check["remedy"]
            is_lost = is_lost or check["required"]
    assert code == (3 if is_lost else 0)
    if checks["torch"]["fine"]:
        assert "on cpu" in checks["torch"]["found"]
