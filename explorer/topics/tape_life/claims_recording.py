"""Claims about what a forward records and keeps, and what a second backward does.

Rows 23 to 25, and 30.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from explorer.model.claim import Observation, Ruling
from explorer.text.numbers import counted
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence, flat_numbers
from explorer.topics.observations import observed
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

TORCH, TAPE, GRAPH = "torch-tape", "mindspore-tape", "mindspore-graph"

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
        Observation("nodes that a forward leaves", str(torch_nodes), (TORCH,), torch_nodes > 0),
        Observation(
            "nodes that a forward leaves inside a gradient",
            str(tape_nodes),
            (TAPE,),
            tape_nodes > 0,
        ),
        Observation(
            "nodes that a forward leaves by itself",
            str(tape_nodes_alone),
            (TAPE,),
            tape_nodes_alone > 0,
        ),
        Observation(
            "nodes that a forward leaves inside a gradient",
            f"{graph_nodes}, and what it saves cannot be observed",
            (GRAPH,),
            graph_nodes == 0,
        ),
        *_kept_by_engine(lives),
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


def _kept_by_engine(lives: Mapping[str, Any]) -> Iterator[Observation]:
    """What each engine keeps when its forward has ended, in tensors and bytes."""
    ends: dict[str, str] = {}
    for engine, life in lives.items():
        kept = after_forward(life)
        all_bytes = kept["bytes"] + kept["of inputs and parameters"]
        ends[engine] = f"{counted(kept['tensors'], 'tensor')}, {all_bytes} bytes"
    yield from observed("kept for the backward when the forward ends", ends)


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
    seen = (
        Observation("tensors that a forward saves", str(plain), (TORCH,), plain > 0),
        Observation(
            "tensors that a forward saves under no_grad", str(no_grad), (TORCH,), not no_grad
        ),
        *_forwards_seen(alone),
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


def _forwards_seen(alone: Mapping[str, Any]) -> Iterator[Observation]:
    """What a forward of MindSpore leaves in each way, and whether there is a public switch."""
    ways: dict[str, dict[str, Any]] = {}
    for engine in MINDSPORE:
        for way, forward in forwards(alone[engine]):
            ways.setdefault(way, {})[engine] = forward
    for way, forwards_left in ways.items():
        as_stated: dict[str, bool] = {}
        if way == "inside a gradient":
            as_stated = {engine: not each["nodes"] for engine, each in forwards_left.items()}
        yield from observed(f"a forward {way} leaves", forwards_left, left, as_stated)
    exists = "yes" if alone[TAPE]["mindspore.no_grad"] else "no"
    yield Observation("a public mindspore.no_grad exists", exists, ("mindspore",))


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
    outcome = refusal(second) if raised(second) else "runs"
    retained = ways["retain_graph"]["second"] == "ran"
    retained_outcome = "runs" if retained else "fails too"

    equal: dict[str, bool] = {}
    called: dict[str, Any] = {}
    for engine, figures in evidence[CALLED_AGAIN_IN_MINDSPORE].items():
        called[engine] = figures["gradients"]
        equal[engine] = all_equal(figures["gradients"])
    seen = (
        Observation("a second backward", outcome, (TORCH,), raised(second)),
        Observation("a second backward with retain_graph", retained_outcome, (TORCH,), retained),
        *observed(
            "gradients of repeated calls of one function", called, one_after_the_other, equal
        ),
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
    returned: dict[str, Any] = {}
    for engine, figures in evidence[CALLED_AGAIN_IN_MINDSPORE].items():
        gradients = figures["gradients"]
        steady[engine] = all(close(unwrapped(gradient), expects["once"]) for gradient in gradients)
        has_grad = has_grad or not raised(figures["weight.grad"])
        returned[engine] = gradients
    seen = (
        Observation(
            ".grad after two backwards", one_after_the_other(sums_in_grad), (TORCH,), added_up
        ),
        Observation(
            ".grad after zero_grad()", _left_in_grad(cleared), (TORCH,), _is_nothing(cleared)
        ),
        *observed("gradients of repeated calls", returned, one_after_the_other, steady),
        Observation(
            "a Parameter has a .grad", "yes" if has_grad else "no", MINDSPORE, not has_grad
        ),
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
