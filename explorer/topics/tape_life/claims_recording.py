"""Claims about what a forward records and keeps, and what a second backward does.

Rows 23 to 25, and 30.
"""

from collections.abc import Mapping
from typing import Any

from explorer.model.claim import Ruling
from explorer.text.numbers import counted
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence, flat_numbers
from explorer.topics.tape_life.questions import (
    ACCUMULATION,
    CALLED_AGAIN,
    FORWARD_ALONE,
    GUIDE,
    LIFETIME,
    MINDSPORE,
    SECOND_BACKWARD,
    SWITCHES,
    TOPIC,
)
from explorer.topics.tape_life.wording import (
    after_forward,
    all_equal,
    close,
    forwards,
    left,
    named,
    one_after_the_other,
    refusal,
    shown,
    unwrapped,
)

CALLED_AGAIN_IN_MINDSPORE = CALLED_AGAIN.by(*MINDSPORE)


@TOPIC.claim(
    23,
    "PyTorch records for the backward while the forward runs; MindSpore's graph mode records"
    " nothing there, and PyNative mode records like PyTorch.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "MindSpore Automatic Differentiation"},
    would=(
        "a forward leaves nodes on a tape in PyTorch and in MindSpore's tape style, and none in"
        " graph style"
    ),
    asks=(LIFETIME.on(GUIDE), FORWARD_ALONE.on(GUIDE)),
)
def recording(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when both tapes record in every forward and graph style in none.

    It holds with changes when MindSpore's tape records inside a gradient function alone.
    """
    lives, alone = evidence[LIFETIME], evidence[FORWARD_ALONE]
    torch_nodes = len(lives["torch-tape"]["nodes"])
    tape, graph = (alone[engine] for engine in MINDSPORE)
    # Inside a gradient function, or MindSpore would have no reason to record anything.
    tape_nodes = tape["inside a gradient"]["nodes"]
    graph_nodes = graph["inside a gradient"]["nodes"]
    tape_nodes_alone = tape["by itself"]["nodes"]

    seen = (
        f"PyTorch's forward leaves {torch_nodes} nodes; MindSpore's in tape style {tape_nodes}"
        f" inside a gradient and {tape_nodes_alone} by itself, in graph style {graph_nodes} inside"
        " a gradient, where what it saves cannot be observed; kept for the backward when the"
        f" forward ends, watched on the tapes and read off the graphs: {_kept_by_engine(lives)}"
    )
    if not torch_nodes or not tape_nodes or graph_nodes:
        return Ruling(
            "does_not_hold", seen, "Measure what your forward keeps; the style does not tell."
        )
    if not tape_nodes_alone:
        return Ruling(
            "holds_with_changes",
            seen,
            "Expect a tape in PYNATIVE_MODE only where a gradient function calls the forward, and"
            " none in GRAPH_MODE; memory is kept for the backward either way.",
        )
    return Ruling(
        "holds", seen, "Expect recording in PYNATIVE_MODE as in PyTorch, and none in GRAPH_MODE."
    )


def _kept_by_engine(lives: Mapping[str, Any]) -> str:
    """What each engine keeps when its forward has ended, in tensors and bytes."""
    ends = []
    for engine, life in lives.items():
        kept = after_forward(life)
        all_bytes = kept["bytes"] + kept["of inputs and parameters"]
        ends.append(f"{engine} {counted(kept['tensors'], 'tensor')}, {all_bytes} bytes")
    return "; ".join(ends)


@TOPIC.claim(
    24,
    "PyTorch has no_grad to switch the recording off; MindSpore needs no such switch.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "torch.no_grad"},
    would=(
        "no_grad brings PyTorch's saved tensors to none, and a forward of MindSpore leaves no tape"
        " to begin with"
    ),
    asks=(SWITCHES, FORWARD_ALONE.on(GUIDE)),
)
def switching_off(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ``no_grad`` saves recording in PyTorch and MindSpore needs no such switch.

    It needs none where a gradient function calls a forward that leaves no tape, in either style.
    """
    torch = evidence[SWITCHES]["torch-tape"]
    plain, no_grad = torch["plain"]["saved"], torch["no_grad"]["saved"]
    alone = evidence[FORWARD_ALONE]
    recorded = [engine for engine in MINDSPORE if alone[engine]["inside a gradient"]["nodes"]]
    clauses = []
    for engine in MINDSPORE:
        ways = [f"{way} {left(forward)}" for way, forward in forwards(alone[engine])]
        clauses.append(f"{engine} {'; '.join(ways)}")
    public = "exists" if alone["mindspore-tape"]["mindspore.no_grad"] else "does not exist"
    seen = (
        f"PyTorch saves {plain} tensors, under no_grad {no_grad}; MindSpore's forward leaves:"
        f" {', '.join(clauses)}; a public mindspore.no_grad {public}"
    )
    if not plain or no_grad:
        return Ruling("does_not_hold", seen, "Do not count on no_grad to save memory.")
    if len(recorded) == len(MINDSPORE):
        return Ruling(
            "does_not_hold", seen, "Switch recording off where you evaluate, in MindSpore too."
        )
    if recorded:
        return Ruling("depends_on_style", seen, _where_to_evaluate(alone[recorded[0]]))
    return Ruling("holds", seen, "Leave no_grad out when you port to MindSpore.")


def _where_to_evaluate(forwards_left: Mapping[str, Any]) -> str:
    """How to keep an evaluation from being recorded in a style that records."""
    switched_off = forwards_left["inside a gradient, under _no_grad"]
    if not forwards_left["by itself"]["nodes"]:
        return (
            "Evaluate outside the gradient function, where nothing is recorded; inside one, put"
            " stop_gradient around what needs no gradient."
        )
    if not raised(switched_off) and not switched_off["nodes"]:
        return "Evaluate under mindspore._no_grad, which is not public: a forward is recorded else."
    return "Evaluate in graph style: a forward is recorded in the other, and nothing prevents it."


@TOPIC.claim(
    25,
    "A second backward fails in PyTorch unless the graph is retained; in MindSpore the gradient is"
    " called again.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "retain_graph"},
    would=(
        "PyTorch raises without retain_graph and runs with it; MindSpore's function gives equal"
        " numbers each time"
    ),
    asks=(SECOND_BACKWARD, CALLED_AGAIN_IN_MINDSPORE),
)
def second_backward(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when PyTorch refuses a second backward and MindSpore's function can be called again.

    PyTorch refuses unless the graph is retained; the function gives equal numbers every time.
    """
    ways = evidence[SECOND_BACKWARD]["torch-tape"]
    second = ways["plain"]["second"]
    outcome = refusal(second) if raised(second) else "a second backward runs"
    retained = ways["retain_graph"]["second"] == "ran"
    retained_outcome = "it runs" if retained else "it fails too"

    equal: dict[str, bool] = {}
    calls = []
    for engine, figures in evidence[CALLED_AGAIN_IN_MINDSPORE].items():
        gradients = figures["gradients"]
        equal[engine] = all_equal(gradients)
        steadiness = "each time" if equal[engine] else "first, then other numbers"
        first = shown(unwrapped(gradients[0]))
        calls.append(f"{len(gradients)} times ({engine}): {first} {steadiness}")
    seen = (
        f"PyTorch: {outcome}; with retain_graph {retained_outcome}; MindSpore, called"
        f" {'; '.join(calls)}"
    )
    # The first backward frees what the tape saved, so the second must have nothing to read.
    if not raised(second):
        return Ruling(
            "outdated",
            seen,
            "Call backward again where you need it; retain_graph is not needed any more.",
        )
    if not any(equal.values()) or not retained:
        return Ruling("does_not_hold", seen, "Compute everything you need from one backward.")
    if not all(equal.values()):
        return Ruling(
            "depends_on_style", seen, f"Call the gradient function again only in {named(equal)}."
        )
    return Ruling(
        "holds",
        seen,
        "Drop retain_graph when you port to MindSpore: call the gradient function again, forward"
        " included.",
    )


@TOPIC.claim(
    30,
    "PyTorch adds gradients up in .grad until they are zeroed; MindSpore returns them and adds"
    " nothing up.",
    heading="tape and graph",
    guides=("000",),
    sections={"000": "PyTorch Automatic Differentiation"},
    would=(
        "two backwards give once and twice the gradient in PyTorch, and MindSpore's function the"
        " same one each time"
    ),
    asks=(ACCUMULATION, CALLED_AGAIN_IN_MINDSPORE),
    expects={"once": [2.0, 4.0, 6.0], "twice": [4.0, 8.0, 12.0]},
)
def accumulating(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    """Holds when ``.grad`` adds up until it is zeroed, and MindSpore returns equal gradients.

    ``.grad`` must add up to the guide's figures, and ``zero_grad()`` leave nothing or zeros.
    """
    sums = evidence[ACCUMULATION]["torch-tape"]
    sums_in_grad, cleared = sums[".grad after each backward"], sums["zero_grad()"]
    added_up = close(
        [unwrapped(gradient) for gradient in sums_in_grad], [expects["once"], expects["twice"]]
    )

    steady: dict[str, bool] = {}
    has_grad = False
    returned = []
    for engine, figures in evidence[CALLED_AGAIN_IN_MINDSPORE].items():
        gradients = figures["gradients"]
        steady[engine] = all(close(unwrapped(gradient), expects["once"]) for gradient in gradients)
        has_grad = has_grad or not raised(figures["weight.grad"])
        returned.append(f"{one_after_the_other(gradients)} ({engine})")
    seen = (
        f".grad is {one_after_the_other(sums_in_grad)}; zero_grad() leaves {_left_in_grad(cleared)};"
        f" MindSpore returns {'; '.join(returned)}, and a Parameter has {'a' if has_grad else 'no'}"
        " .grad"
    )
    if not _is_nothing(cleared):
        return Ruling("does_not_hold", seen, "Set .grad to None yourself before each backward.")
    if not added_up or not any(steady.values()):
        return Ruling("does_not_hold", seen, "Check what .grad holds before each step.")
    if not all(steady.values()):
        return Ruling(
            "depends_on_style", seen, f"Rely on fresh gradients in {named(steady)} alone."
        )
    if has_grad:
        return Ruling(
            "holds_with_changes",
            seen,
            "Use what the gradient function returns, not the .grad that MindSpore has now.",
        )
    return Ruling(
        "holds",
        seen,
        "Leave zero_grad out when you port to MindSpore, and add gradients yourself to accumulate.",
    )


def _is_nothing(gradient: Any) -> bool:
    """Whether zeroing left no gradient, or zeros."""
    return gradient is None or not any(flat_numbers(gradient))


def _left_in_grad(gradient: Any) -> str:
    return "None" if gradient is None else shown(unwrapped(gradient))
