"""Mutants that no test can notice, each with the reason: they do what the code does."""

from typing import NamedTuple

from tests.mutation.mutators import Mutant


class Equivalent(NamedTuple):
    """A change that changes nothing: the file, the lines before and after, and why."""

    path: str
    before: str
    after: str
    why: str


EQUIVALENT: tuple[Equivalent, ...] = (
    Equivalent(
        "explorer/compare/verdicts.py",
        'if leaf.name in drawn and compare_form(leaf, other, ("left", "right")).verdict == "match":',
        'if leaf.name in drawn and compare_form(leaf, other, ("XXleftXX", "right")).verdict == "match":',
        "Of this comparison only the verdict is read, which has no party in it.",
    ),
    Equivalent(
        "explorer/compare/align/vertices.py",
        'near: dict["Bucket", float] = field(default_factory=dict, repr=False)',
        'near: dict["Bucket", float] = field(default_factory=dict, )',
        "How a bucket is written in a debugger is no business of the alignment.",
    ),
    Equivalent(
        "explorer/compare/align/fingerprints.py",
        "coarseness = np.array([content.coarseness for content in contents], np.float64)",
        "coarseness = np.array([content.coarseness for content in contents], )",
        "Of Python's floats numpy makes float64, and of an empty list too.",
    ),
    Equivalent(
        "explorer/compare/align/fingerprints.py",
        "quantiles = (summary.quantiles + (0.0,) * QUANTILES)[:QUANTILES]",
        "quantiles = (summary.quantiles + (1.0,) * QUANTILES)[:QUANTILES]",
        "Only a tensor without a finite number has none, and two of these agree whatever stands there.",
    ),
    Equivalent(
        "explorer/compare/align/divergence.py",
        'for side, suspects in suspects_behind(matching, results, "forward").items():',
        "for side, suspects in suspects_behind(matching, results, None).items():",
        "Only whether it is the backward is asked of this phase.",
    ),
    Equivalent(
        "explorer/compare/align/entries.py",
        "best: Vertex | None = None",
        'best: Vertex | None = ""',
        "All that is asked of it is whether there is one.",
    ),
    Equivalent(
        "explorer/compare/align/fingerprints.py",
        "noise = np.array([content.noise for content in contents], np.float64)",
        "noise = np.array([content.noise for content in contents], )",
        "Of Python's floats numpy makes float64, and of an empty list too.",
    ),
    Equivalent(
        "explorer/compare/align/fingerprints.py",
        "noise = np.array([content.noise for content in contents], np.float64)",
        "noise = np.array([content.noise for content in contents], None)",
        "Of Python's floats numpy makes float64, and of an empty list too.",
    ),
    Equivalent(
        "explorer/compare/align/vertices.py",
        "return names < other_names",
        "return names <= other_names",
        "They are not equal here.",
    ),
    Equivalent(
        "explorer/compare/align/arithmetic.py",
        "places = np.clip(np.searchsorted(own, held), 1, max(own.size - 1, 1))",
        "places = np.clip(np.searchsorted(own, held), 1, max(own.size + 1, 1))",
        "Above the greatest of its inputs a number is nearest to that one either way.",
    ),
    Equivalent(
        "explorer/compare/align/further.py",
        'in_backward = matching.differing_results("backward")',
        "in_backward = matching.differing_results(None)",
        "What leads to a result of forward is settled in backward, but for leaves, which were found"
        " in forward before.",
    ),
    Equivalent(
        "explorer/compare/align/vertices.py",
        "self.rank = 0",
        "self.rank = 1",
        "Each side ranks all its nodes before anything asks for a rank.",
    ),
    Equivalent(
        "explorer/compare/align/vertices.py",
        "self.rank = 0",
        "self.rank = None",
        "Each side ranks all its nodes before anything asks for a rank.",
    ),
    Equivalent(
        "explorer/compare/align/pairing.py",
        'return None if node.is_leaf else ("any", "any")',
        'return None if node.is_leaf else ("any", "XXanyXX")',
        "Under this rule all groups have this one name, whatever it is.",
    ),
    Equivalent(
        "explorer/compare/align/enclosures.py",
        "for output, other in zip(result.inputs[:1], other_result.inputs[:1], strict=False):",
        "for output, other in zip(result.inputs[:1], other_result.inputs[:1], strict=None):",
        "None is as false as False.",
    ),
    Equivalent(
        "explorer/compare/align/enclosures.py",
        "for output, other in zip(result.inputs[:1], other_result.inputs[:1], strict=False):",
        "for output, other in zip(result.inputs[:1], other_result.inputs[:2], strict=False):",
        "The loop ends with the shorter of the two, which has one input at most.",
    ),
    Equivalent(
        "explorer/compare/align/vertices.py",
        'near: dict["Bucket", float] = field(default_factory=dict, repr=False)',
        'near: dict["Bucket", float] = field(default_factory=dict, repr=None)',
        "None is as false as False.",
    ),
    Equivalent(
        "explorer/compare/results.py",
        "for leaf, other in zip(left.leaves, right.leaves, strict=True):",
        "for leaf, other in zip(left.leaves, right.leaves, strict=None):",
        "Structures that nest alike, as these do, have as many leaves.",
    ),
    Equivalent(
        "explorer/compare/results.py",
        "a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)",
        "a, b = np.asarray(one, ), np.asarray(other, np.float64)",
        "The other side is float64, so what is computed of both is too.",
    ),
    Equivalent(
        "explorer/scenario/correspondence.py",
        "pair = one.ravel().astype(np.float64), other.ravel().astype(np.float64)",
        "pair = one.ravel().astype(np.float64), other.ravel().astype(None)",
        "None is float64 to numpy.",
    ),
    Equivalent(
        "explorer/scenario/correspondence.py",
        "pair = one.ravel().astype(np.float64), other.ravel().astype(np.float64)",
        "pair = one.ravel().astype(None), other.ravel().astype(np.float64)",
        "None is float64 to numpy.",
    ),
    Equivalent(
        "explorer/scenario/devices.py",
        '"mindspore": ("npu", "cpu"),',
        '"mindspore": ("npu", "XXcpuXX"),',
        "Where no kind is there the CPU is taken, and it is the last of them.",
    ),
    Equivalent(
        "explorer/scenario/devices.py",
        '"mindspore": ("npu", "cpu"),',
        '"mindspore": ("npu", "CPU"),',
        "Where no kind is there the CPU is taken, and it is the last of them.",
    ),
    Equivalent(
        "explorer/scenario/devices.py",
        '"torch": ("cuda", "npu", "mps", "cpu"),',
        '"torch": ("cuda", "npu", "mps", "XXcpuXX"),',
        "Where no kind is there the CPU is taken, and it is the last of them.",
    ),
    Equivalent(
        "explorer/scenario/devices.py",
        '"torch": ("cuda", "npu", "mps", "cpu"),',
        '"torch": ("cuda", "npu", "mps", "CPU"),',
        "Where no kind is there the CPU is taken, and it is the last of them.",
    ),
    Equivalent(
        "explorer/scenario/layouts.py",
        "for length in range(len(parts) - 1, 0, -1):",
        "for length in range(len(parts) + 1, 0, -1):",
        "A rename of the whole path was looked up before.",
    ),
    Equivalent(
        "explorer/store/store.py",
        "self._has_reported = False",
        "self._has_reported = None",
        "All that is asked of it is whether it is true.",
    ),
    Equivalent(
        "explorer/store/store.py",
        'UNFINISHED = ".unfinished"',
        'UNFINISHED = ".UNFINISHED"',
        "Files that are being written are called so and looked for by this one name, whatever it is.",
    ),
    Equivalent(
        "explorer/store/store.py",
        "path.unlink(missing_ok=True)",
        "path.unlink(missing_ok=False)",
        "Only in a race: another process drops the file between the listing of the folder and here,"
        " and then put tells of it and keeps what it has written all the same.",
    ),
    Equivalent(
        "explorer/store/store.py",
        "path.unlink(missing_ok=True)",
        "path.unlink(missing_ok=None)",
        "None is as false as False, which matters in a race with another process alone.",
    ),
    Equivalent(
        "explorer/store/store.py",
        'return b"", b""',
        'return b"XXXX", b""',
        "Neither text is a header: either way the file counts as damaged.",
    ),
    Equivalent(
        "explorer/store/store.py",
        'if not 0 <= limit < float("inf"):',
        'if not 0 <= limit < float("INF"):',
        "Python reads infinity in letters of any case.",
    ),
    Equivalent(
        "explorer/engines/mindspore/ir/records.py",
        "waiting += reversed(list(zip(kind.args, inner, strict=True)))",
        "waiting += reversed(list(zip(kind.args, inner, )))",
        "The line before makes them equally many.",
    ),
    Equivalent(
        "explorer/engines/mindspore/ir/subgraphs.py",
        'while not (lines.peek() or "").endswith("}"):',
        'while not (lines.peek() or "XXXX").endswith("}"):',
        "Neither text ends with a bracket: either way a file that ends here is refused below.",
    ),
)
"""Looked at one by one; a test keeps the lines as they are in the files."""


def why_equivalent(mutant: Mutant) -> str:
    """The reason why a mutant does what the code does; empty where nobody has said so."""
    for row in EQUIVALENT:
        if (row.path, row.before, row.after) == (str(mutant.path), mutant.before, mutant.after):
            return row.why
    return ""
