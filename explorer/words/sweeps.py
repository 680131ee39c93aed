"""What is missing in a sweep, and where its machines differ, as text."""

from collections.abc import Mapping, Sequence

from explorer.text.language import _

CODE = "explorer"
"""The part of an installation that is a digest of the explorer's code."""


def not_finished(seconds: float) -> str:
    """Why a job was stopped."""
    text = _("not finished within {seconds} s; raise --timeout to wait longer")
    return text.format(seconds=f"{seconds:g}")


def no_result(names: Sequence[str]) -> str:
    """Which measurements of a study are missing."""
    return _("no result for {names}").format(names=", ".join(names))


def no_graph(engine: str, problem: str) -> str:
    """Why a graph is missing."""
    return _("no graph of {engine}: {problem}").format(engine=engine, problem=problem)


def not_run(cases: int, reason: str) -> str:
    """Why cases were not run."""
    text = _("1 case not run: {reason}")
    if cases != 1:
        text = _("{n} cases not run: {reason}")
    return text.format(n=cases, reason=reason)


def mismatch(address: str, versions: Mapping[str, tuple[str, str]]) -> str:
    """How a worker's installation differs; ``versions`` are those there and here, by package."""
    parts: list[str] = []
    for name, (there, here) in versions.items():
        if name == CODE:  # a digest, which means nothing to a reader
            parts.append(_("another version of the explorer's code"))
        else:
            text = _("{name} {there} (here {here})")
            parts.append(text.format(name=name, there=there, here=here))
    return _("the worker {address} has {parts}").format(address=address, parts=", ".join(parts))
