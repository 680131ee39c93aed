"""A sweep in JUnit's XML, which continuous integration shows as tests: a test case for each job."""

from xml.etree import ElementTree

from explorer.report.sweep import VERDICTS, cases_by_reason, change_line
from explorer.sweep.records import Change, Sweep, SweepRow, SweepVerdict
from explorer.text.clean import clean
from explorer.text.language import ENGLISH, said_in

ELEMENTS: dict[SweepVerdict, str] = {
    "different": "failure",
    "unsupported": "skipped",
    "refused": "error",
    "lost": "error",
}
"""The element in the test case of a job that did not simply pass."""

CHANGES = "since the recorded sweep"
"""The class of test cases that say what has changed."""


@said_in(ENGLISH)
def sweep_xml(sweep: Sweep, changes: tuple[Change, ...] = ()) -> bytes:
    """The document in JUnit's XML, in UTF-8."""
    counts = dict.fromkeys(("failure", "error", "skipped"), 0)
    suite = ElementTree.Element("testsuite", name="explorer sweep", timestamp=sweep.date)
    for row in sweep.rows:
        suite.append(_test_case(row))
        if element := ELEMENTS.get(row.verdict):
            counts[element] += 1
    for name in sweep.unfinished:
        case = ElementTree.SubElement(suite, "testcase", classname="explorer", name=clean(name))
        ElementTree.SubElement(case, "skipped", message="not finished")
        counts["skipped"] += 1
    for change in changes:
        name = clean(f"{change.name}: {change.what}")
        case = ElementTree.SubElement(suite, "testcase", classname=CHANGES, name=name)
        ElementTree.SubElement(case, "failure", message=clean(change_line(change)))
        counts["failure"] += 1
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    suite.set("skipped", str(counts["skipped"]))
    suite.set("time", f"{sweep.seconds:.3f}")
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    # A declaration of its own: by default there is none for UTF-8.
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root) + b"\n"


def _test_case(row: SweepRow) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        classname=clean(row.scenario),
        name=clean(row.study or "cases and graphs"),
        time=f"{row.seconds:.3f}",
    )
    if element := ELEMENTS.get(row.verdict):
        message = clean(row.reason) or VERDICTS[row.verdict]
        part = ElementTree.SubElement(case, element, message=message)
        if row.verdict != "unsupported":
            part.text = clean("\n".join(_details(row)), keep="\n")
    return case


def _details(row: SweepRow) -> list[str]:
    """What the row says beyond its reason: findings, cases to look at, and divergences."""
    lines = list(row.findings)
    for reason, labels in cases_by_reason(row).items():
        lines += [f"{label}: {reason}" for label in labels]
    for engines, pair in row.pairs.items():
        lines += [f"{engines}: {sentence}" for sentence in pair.divergences]
    return lines
