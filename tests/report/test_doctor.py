"""What the doctor found, as it is shown."""

from explorer.model.doctor import Check
from explorer.report.doctor import checks_document, doctor_blocks
from tests.support.consoles import on_terminal

REMEDY = 'python -m pip install "torch==2.13.0"  ' + "x" * 100
CHECKS = [
    Check(name="python", fine=True, found="3.11"),
    Check(name="torch", fine=False, found="none", remedy=REMEDY, required=True),
]


def test_a_remedy_stands_on_one_line_however_narrow_the_terminal() -> None:
    lines = on_terminal(doctor_blocks(CHECKS), width=40).splitlines()
    assert lines[-1] == f"torch: {REMEDY}"
    assert "ok" in lines[0]
    assert "missing" in lines[1]


def test_the_document_has_every_check_with_its_remedy() -> None:
    first, second = checks_document(CHECKS)["checks"]
    assert (first["name"], first["remedy"]) == ("python", "")
    assert (second["required"], second["remedy"]) == (True, REMEDY)
