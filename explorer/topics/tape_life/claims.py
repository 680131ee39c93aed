"""Claims about tape and graph: what is recorded and kept, what a second call does, what depends on
values (rows 18, 22-31).
"""

from collections.abc import Mapping
from typing import Any

from explorer.model.claim import Ruling
from explorer.numeric.differences import greatest_difference
from explorer.scenario.contract import find
from explorer.topics import stages
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.stages.telling import FLIPPED, computing, total
from explorer.topics.tape_life import EVERY, GUIDE, MINDSPORE, asked, of_scenario
from explorer.topics.tape_life.asking import counted, peak, refusal, shown, unwrapped
from explorer.topics.topic import Claim

TOLERANCE = 1e-5
GUIDE_FILE = str(find(GUIDE))
FORWARDS = tuple(of_scenario("forward_alone", engine, GUIDE_FILE) for engine in MINDSPORE)
STAGES = stages.on(GUIDE_FILE) | stages.own()
TOPIC = "tape and graph"
Figures = dict[str, Any]


def of(evidence: Evidence, question: str, engine: str) -> Figures:
    """What one engine said to a question about the tape's life."""
    return evidence[f"tape-life.{question}.{engine}"]


def close(one: Any, other: Any) -> bool:
    """Whether two nested lists of numbers agree."""
    return not raised(one) and not raised(other) and greatest_difference(one, other) <= TOLERANCE


def extra_output(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when the extra output moves the gradient in both styles of MindSpore, and both ways to
    cut it off put it back.
    """
    found = {engine: of(evidence, "extra_output", engine) for engine in MINDSPORE}
    moved = {
        engine: greatest_difference(each["every output"], each["first output alone"])
        for engine, each in found.items()
    }
    back = {
        engine: all(close(each[way], each["first output alone"]) for way in expects["ways"])
        for engine, each in found.items()
    }
    remedies = " and ".join(expects["ways"])
    told = "; ".join(
        f"{engine}: moved by up to {moved[engine]:.3g}, {remedies} {'put' if back[engine] else 'do not put'} it back"
        for engine in MINDSPORE
    )
    shifts = [engine for engine in MINDSPORE if moved[engine] > TOLERANCE]
    if not all(back.values()):
        return Ruling("does_not_hold", told, "Return the loss alone from what you differentiate.")
    if len(shifts) == len(MINDSPORE):
        return Ruling(
            "holds",
            told,
            "Pass has_aux=True, or put stop_gradient around every output but the loss.",
        )
    if shifts:
        return Ruling(
            "depends_on_style",
            told,
            f"Pass has_aux=True wherever you differentiate; {shifts[0]} needs it.",
        )
    return Ruling(
        "outdated", told, "An extra output is harmless here; has_aux=True still says what you mean."
    )


def reusable(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when what ``grad`` returns can be called with other values and shapes, in both styles
    of MindSpore.
    """
    works: dict[str, bool] = {}
    for engine in MINDSPORE:
        found = of(evidence, "reused", engine)
        truths = zip(found["inputs"], found["gradients"], strict=True)
        works[engine] = found["callable"] and all(
            close(gradient, cubed(values)) for values, gradient in truths
        )
    last = of(evidence, "reused", MINDSPORE[-1])
    calls = "; ".join(
        f"{shown(x)} → {shown(g)}" for x, g in zip(last["inputs"], last["gradients"], strict=True)
    )
    told = f"one function for the derivative of x³, called three times: {calls}; right in {_named(works)}"
    if all(works.values()):
        return Ruling(
            "holds",
            told,
            "Make the gradient function once, outside the loop, and call it with every batch.",
        )
    if any(works.values()):
        return Ruling(
            "depends_on_style",
            told,
            f"Reuse the gradient function only in {_named(works)}; make it anew elsewhere.",
        )
    return Ruling("does_not_hold", told, "Make the gradient function anew for every call.")


def cubed(values: Any) -> Any:
    """3x² of nested lists: the derivative of x³."""
    return [cubed(each) for each in values] if isinstance(values, list) else 3 * values * values


def recording(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when PyTorch's tape records in the forward and neither of MindSpore's styles does."""
    torch, tape = (of(evidence, "lifetime", engine) for engine in ("torch-tape", "mindspore-tape"))
    graph = of(evidence, "forward_alone", "mindspore-graph")["inside a gradient"]
    alone = of(evidence, "forward_alone", "mindspore-tape")["by itself"]
    ends = {engine: peak(of(evidence, "lifetime", engine)) for engine in EVERY}
    told = (
        f"PyTorch's forward leaves {len(torch['nodes'])} nodes; MindSpore's in tape style {len(tape['nodes'])} inside a gradient "
        f"and {alone['nodes']} by itself, in graph style {graph['nodes']}, with {graph['saved']} saved tensors; kept for the "
        "backward when the forward ends: "
    ) + "; ".join(
        f"{engine} {counted(kept['tensors'], 'tensor')}, {held(kept)} bytes"
        for engine, kept in ends.items()
    )
    if not torch["nodes"] or graph["nodes"] or graph["saved"]:
        return Ruling(
            "does_not_hold", told, "Measure what your forward keeps; the style does not tell."
        )
    if tape["nodes"]:
        return Ruling(
            "depends_on_style",
            told,
            "Expect recording in PYNATIVE_MODE as in PyTorch, and none in GRAPH_MODE.",
        )
    return Ruling("holds", told, "Expect no recording from MindSpore, whatever the mode.")


def held(kept: Mapping[str, Any]) -> int:
    """All bytes kept, those of inputs and parameters with them."""
    return int(kept["bytes"]) + int(kept["of inputs and parameters"])


def switching_off(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when ``no_grad`` saves recording in PyTorch and there is nothing to switch off in
    either style of MindSpore.
    """
    torch = of(evidence, "switches", "torch-tape")
    tape, graph = (of(evidence, "forward_alone", engine) for engine in MINDSPORE)
    inside, under = "inside a gradient", "inside a gradient, under _no_grad"
    told = (
        f"PyTorch saves {torch['plain']['saved']} tensors, under no_grad {torch['no_grad']['saved']}; MindSpore's tape "
        f"{tape['by itself']['saved']} by itself, {tape[inside]['saved']} inside a gradient and {tape[under]['saved']} under "
        f"mindspore._no_grad there, its graph {graph[inside]['saved']}; a public mindspore.no_grad "
        f"{'exists' if tape['mindspore.no_grad'] else 'does not exist'}"
    )
    if not torch["plain"]["saved"] or torch["no_grad"]["saved"]:
        return Ruling("does_not_hold", told, "Do not count on no_grad to save memory.")
    needed = {
        engine: found[inside]["saved"] > 0
        for engine, found in zip(MINDSPORE, (tape, graph), strict=True)
    }
    if all(needed.values()):
        return Ruling(
            "does_not_hold", told, "Switch recording off where you evaluate, in MindSpore too."
        )
    if any(needed.values()):
        return Ruling(
            "depends_on_style",
            told,
            "Evaluate outside the gradient function, where nothing is recorded; inside one in PYNATIVE_MODE, cut off what needs "
            "no gradient with stop_gradient.",
        )
    return Ruling("holds", told, "Leave no_grad out when you port to MindSpore.")


def second_backward(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when PyTorch refuses a second backward unless the graph is retained, and MindSpore's
    function gives equal numbers.
    """
    ways = of(evidence, "second_backward", "torch-tape")
    again = {engine: of(evidence, "called_again", engine)["gradients"] for engine in MINDSPORE}
    equal = {
        engine: all(each == gradients[0] for each in gradients)
        for engine, gradients in again.items()
    }
    refused = raised(ways["plain"]["second"])
    retained = ways["retain_graph"]["second"] == "ran"
    said = refusal(ways["plain"]["second"]) if refused else "a second backward runs"
    calls = [
        f"{len(each)} times ({engine}): {shown(unwrapped(each[0]))} {_equal(equal[engine])}"
        for engine, each in again.items()
    ]
    told = f"PyTorch: {said}; with retain_graph {'it runs' if retained else 'it fails too'}; MindSpore, called {'; '.join(calls)}"
    if not refused:
        return Ruling(
            "outdated",
            told,
            "Call backward again where you need it; retain_graph is not needed any more.",
        )
    if not any(equal.values()) or not retained:
        return Ruling("does_not_hold", told, "Compute everything you need from one backward.")
    if not all(equal.values()):
        return Ruling(
            "depends_on_style", told, f"Call the gradient function again only in {_named(equal)}."
        )
    return Ruling(
        "holds",
        told,
        "Drop retain_graph when you port to MindSpore: call the gradient function again, forward included.",
    )


def structure(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when neither graph nor tape of MindSpore changes with the values, also where the
    program branches on one.
    """
    graphs = {
        name: evidence[f"stages.{name}.mindspore-graph"] for name in ("other_values", "branch")
    }
    same = all(
        len({each["fingerprint"] for each in found.values()}) == 1 for found in graphs.values()
    )
    again = sum(each["compiled again"] for found in graphs.values() for each in found.values())
    tapes = {engine: evidence[f"stages.branch.{engine}"] for engine in ("torch", "mindspore-tape")}
    moved = [
        engine
        for engine, found in tapes.items()
        if len({tuple(found[name]["tape"]) for name in FLIPPED}) > 1
    ]
    branch = graphs["branch"][FLIPPED[0]]
    told = (
        f"MindSpore's graph for two inputs is {'the same' if same else 'not the same'}, with a branch on a value too "
        f"({computing(branch)} operators in {branch['graphs']} graphs: both sides), and {again} of 4 calls with other values "
        f"compiled again; on the branch the tape is "
        + ", ".join(
            f"{' + '.join(found[name]['tape'])} ({engine})"
            for engine, found in tapes.items()
            for name in FLIPPED
        )
    )
    if not same or again:
        return Ruling(
            "does_not_hold", told, "Look at the graph of each input; it depends on the values."
        )
    if "mindspore-tape" in moved:
        return Ruling(
            "depends_on_style",
            told,
            "Rely on one graph for all values in GRAPH_MODE alone; a tape is made anew per call.",
        )
    return Ruling("holds", told, "Look at the graph once: it serves all values.")


def far_more(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when the final graph has several times the calls of its author's program, and the
    optimizer's operators are in it.
    """
    gradient, training = (
        evidence[f"stages.{name}_passes.mindspore-graph"] for name in ("gradient", "training")
    )
    last, step = gradient["passes"][-1], training["passes"][-1]
    calls = len(gradient["written"])
    times = computing(last) / calls if calls else 0.0
    largest = max(map(total, gradient["passes"]))
    told = (
        f"{calls} calls written; {computing(last)} operators in the final graph ({last['forward']} forward, {last['backward']} "
        f"backward), {largest} nodes in the largest pass; with the optimizer inside {step['forward']} forward, "
        f"{step['backward']} backward and {step['update']} of the update in one graph, run as {training['kernels']} kernels"
    )
    if not step["update"] or times <= 1:
        return Ruling(
            "does_not_hold",
            told,
            "Count the operators of your own graph: study stages shows them pass by pass.",
        )
    if times < expects["times"]:
        return Ruling(
            "holds_with_changes",
            told,
            "Expect more operators in the final graph than you wrote, though not many more.",
        )
    return Ruling(
        "holds",
        told,
        "Read a dumped graph from its last pass, and look for the optimizer's operators in it too.",
    )


def variable(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when the leaf's gradient is the guide's and a Variable is a type of its own."""
    found = of(evidence, "variable", "torch-tape")
    exists = found["torch.autograd.Variable exists"]
    told = f"leaf.grad is {shown(found['leaf.grad'])}; Variable(…) gives a {found['type']}"
    if not close(found["leaf.grad"], expects["leaf.grad"]):
        return Ruling("does_not_hold", told, "Work the chain out by hand before you port it.")
    if not exists:
        return Ruling(
            "outdated",
            f"{told}; torch.autograd.Variable is gone",
            "Use a tensor with requires_grad=True.",
        )
    if found["is a Tensor"]:
        return Ruling(
            "holds_with_changes",
            told,
            "Write torch.ones(2, 2, requires_grad=True): Variable is an old name for Tensor.",
        )
    return Ruling("holds", told, "Wrap what is to be differentiated in Variable.")


def accumulating(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when ``.grad`` adds up to the guide's figures until it is zeroed, and MindSpore returns
    equal gradients each time.
    """
    sums = of(evidence, "accumulation", "torch-tape")
    grads = [unwrapped(each) for each in sums[".grad after each backward"]]
    calls = {engine: of(evidence, "called_again", engine) for engine in MINDSPORE}
    returned = {
        engine: [unwrapped(each) for each in found["gradients"]] for engine, found in calls.items()
    }
    steady = {
        engine: all(close(each, expects["once"]) for each in found)
        for engine, found in returned.items()
    }
    kept = [engine for engine, found in calls.items() if not raised(found["weight.grad"])]
    told = (
        f".grad is {', then '.join(map(shown, grads))}; zero_grad() leaves {sums['zero_grad()']}; MindSpore returns "
        + "; ".join(
            f"{', then '.join(map(shown, found))} ({engine})" for engine, found in returned.items()
        )
        + f", and a Parameter has {'a' if kept else 'no'} .grad"
    )
    if not close(grads, [expects["once"], expects["twice"]]) or not any(steady.values()):
        return Ruling("does_not_hold", told, "Check what .grad holds before each step.")
    if not all(steady.values()):
        return Ruling(
            "depends_on_style", told, f"Rely on fresh gradients in {_named(steady)} alone."
        )
    if kept:
        return Ruling(
            "holds_with_changes",
            told,
            "Use what the gradient function returns, not the .grad that MindSpore has now.",
        )
    return Ruling(
        "holds",
        told,
        "Leave zero_grad out when you port to MindSpore, and add gradients yourself to accumulate.",
    )


def same_tensor(evidence: Evidence, expects: Figures) -> Ruling:
    """Holds when PyTorch sums and MindSpore keeps apart in every style; else it depends on the
    style, or is not so.
    """
    found = {engine: of(evidence, "answers", engine)["by a"] for engine in EVERY}
    gradients = {
        engine: None if raised(each) else next(iter(each.values()))
        for engine, each in found.items()
    }
    sums = {
        engine
        for engine, each in gradients.items()
        if each is not None and close(each, expects["summed"])
    }
    apart = {
        engine
        for engine, each in gradients.items()
        if each is not None and close(each, expects["apart"])
    }
    told = "; ".join(
        f"{engine} {refusal(found[engine]) if each is None else shown(each)}"
        for engine, each in gradients.items()
    )
    if sums == {"torch-tape", "torch-graph"} and apart == set(MINDSPORE):
        return Ruling(
            "holds", told, "Pass copies in PyTorch where you want the derivative by one argument."
        )
    if (
        sums == {engine for engine in EVERY if engine.endswith("tape")}
        and apart == set(EVERY) - sums
    ):
        return Ruling(
            "depends_on_style",
            told,
            "Differentiate with one tensor at one position: pass a copy where it stands twice.",
        )
    return Ruling(
        "does_not_hold",
        told,
        "Compare both gradients with central differences before you trust either.",
    )


def _named(works: dict[str, bool]) -> str:
    return " and ".join(engine for engine, fine in works.items() if fine) or "none"


def _equal(same: bool) -> str:
    return "each time" if same else "first, then other numbers"


CLAIMS = (
    Claim(
        id=18, topic="gradients", guides=("003",), judge=extra_output,
        statement="An extra output that a net returns shifts its gradient unless stop_gradient or has_aux is used.",
        would="the weights' gradient differs with the extra output, and equals the loss's own with either remedy, in both styles",
        measurements=tuple(asked("extra_output", engine) for engine in MINDSPORE),
        expects={"ways": ["has_aux", "extra output stopped"]},
    ),
    Claim(
        id=22, topic="gradients", guides=("003", "004"), judge=reusable,
        statement="What grad makes of a function is a function again, which can be called with any inputs.",
        would="one gradient function gives 3x² for three inputs, one of them of another shape, in both styles",
        measurements=tuple(asked("reused", engine) for engine in MINDSPORE),
    ),
    Claim(
        id=23, topic=TOPIC, guides=("000",), judge=recording,
        statement="PyTorch records for the backward while the forward runs; MindSpore records nothing in the forward.",
        would="a forward leaves nodes and saved tensors in PyTorch, and none in either style of MindSpore",
        measurements=(
            *(of_scenario("lifetime", engine, GUIDE_FILE) for engine in EVERY),
            *FORWARDS,
        ),
    ),
    Claim(
        id=24, topic=TOPIC, guides=("000",), judge=switching_off,
        statement="PyTorch has no_grad to switch the recording off; MindSpore needs no such switch.",
        would="no_grad brings PyTorch's saved tensors to none, and in MindSpore there are none to begin with",
        measurements=(asked("switches", "torch-tape"), *FORWARDS),
    ),
    Claim(
        id=25, topic=TOPIC, guides=("000",), judge=second_backward,
        statement="A second backward fails in PyTorch unless the graph is retained; in MindSpore the gradient is called again.",
        would="PyTorch raises without retain_graph and runs with it; MindSpore's function gives equal numbers each time",
        measurements=(asked("second_backward", "torch-tape"), *(asked("called_again", engine) for engine in MINDSPORE)),
    ),
    Claim(
        id=27, topic=TOPIC, guides=("000",), judge=structure,
        statement="The backward of a program depends on its structure, not on the values that it is called with.",
        would="two inputs give the same graph and the same tape, also where the program branches on a value",
        measurements=(
            STAGES["other_values.mindspore-graph"],
            *(STAGES[f"branch.{engine}"] for engine in ("mindspore-graph", "mindspore-tape", "torch")),
        ),
    ),
    Claim(
        id=28, topic=TOPIC, guides=("000",), judge=far_more,
        statement="The final graph has far more operators than its author wrote, and the optimizer's are among them.",
        would="at least twice as many operators as calls are left after the last pass, and a training step's include an update",
        measurements=(STAGES["gradient_passes.mindspore-graph"], STAGES["training_passes.mindspore-graph"]),
        expects={"times": 2.0},
    ),
    Claim(
        id=29, topic=TOPIC, guides=("000",), judge=variable,
        statement="In PyTorch a Variable that is doubled and shifted, and sent back with the doubled value, has the gradient 4.",
        would="leaf.grad is 4 everywhere, and Variable is a type of its own",
        measurements=(asked("variable", "torch-tape"),),
        expects={"leaf.grad": [[4.0, 4.0], [4.0, 4.0]]},
    ),
    Claim(
        id=30, topic=TOPIC, guides=("000",), judge=accumulating,
        statement="PyTorch adds gradients up in .grad until they are zeroed; MindSpore returns them and adds nothing up.",
        would="two backwards give once and twice the gradient in PyTorch, and MindSpore's function the same one each time",
        measurements=(asked("accumulation", "torch-tape"), *(asked("called_again", engine) for engine in MINDSPORE)),
        expects={"once": [2.0, 4.0, 6.0], "twice": [4.0, 8.0, 12.0]},
    ),
    Claim(
        id=31, topic=TOPIC, guides=("000",), judge=same_tensor,
        statement="PyTorch sums the gradients of a tensor that is passed twice; MindSpore keeps the two positions apart.",
        would="by the first argument PyTorch gives the sum of both uses, and MindSpore one use, whatever the style",
        measurements=tuple(asked("answers", engine) for engine in EVERY),
        expects={"summed": [2.0, 4.0, 6.0], "apart": [1.0, 2.0, 3.0]},
    ),
)  # fmt: skip
