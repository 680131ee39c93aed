"""What the figures of the study of the tape's life say: findings, tables and charts; no framework
here.
"""

from collections import Counter

from explorer.model.study import Cell, Chart, Series, Table
from explorer.numeric.differences import greatest_difference
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.studying import Telling
from explorer.topics.tape_life.asking import (
    ENGINES,
    NONE,
    TRUE_IN_PLACE,
    Figures,
    counted,
    figures,
    missing,
    peak,
    questions,
    recorded,
    refusal,
    right,
    shown,
    told_kept,
    unwrapped,
)

TAPES = ("torch-tape", "mindspore-tape")


def tell(evidence: Evidence) -> Telling:
    """Findings, tables and charts of whatever was measured."""
    findings = (
        *_lives(evidence),
        *_twice(evidence),
        *_sums(evidence),
        *_records(evidence),
        *_changes(evidence),
        *_hooks(evidence),
        *_arguments(evidence),
    )
    tables = (
        questions(evidence),
        _moments(evidence),
        _second(evidence),
        _switches(evidence),
        _savers(evidence),
    )
    return Telling(
        findings=findings, tables=tables, charts=(*_timeline(evidence), *_peaks(evidence))
    )


# Findings


def _lives(evidence: Evidence) -> list[str]:
    found = []
    for engine, name in ENGINES.items():
        life = figures(evidence, "lifetime", engine)
        if life:
            end = life["steps"][-1]["tensors"]
            nodes = recorded(evidence, engine)
            tape = f" leaves {nodes} on a tape and" if nodes != NONE else ""
            found.append(
                f"{name}: the forward{tape} keeps {told_kept(peak(life))} for the backward; {end} outlive it."
            )
    for engine in TAPES:
        moments = figures(evidence, "freeing", engine)
        told = "; ".join(
            f"{moment} {counted(each['nodes'], 'node')} and {counted(each['tensors'], 'tensor')}"
            for moment, each in moments.items()
        )
        found += [f"{ENGINES[engine]}, alive: {told}."] if moments else []
    return found


def _twice(evidence: Evidence) -> list[str]:
    found = []
    second = figures(evidence, "second_backward", "torch-tape")
    if second:
        ways = [
            f"{name}: {refusal(each['second']) if raised(each['second']) else each['second']}"
            for name, each in second.items()
        ]
        found.append(f"A second backward through PyTorch's tape. {'; '.join(ways)}.")
    little = figures(evidence, "second_backward_of_little", "torch-tape")
    if little:
        plain, mixed = little["x + 1"], little["exp(x) + y + 1"]
        failed = "raises" if raised(mixed["second"]) else "runs"
        found.append(
            f"Where nothing was saved (x + 1) a second backward {'raises' if raised(plain['second']) else 'runs'} and .grad is "
            f"{shown(plain['.grad'])}; where only a part needs what is gone it {failed}, and the other part's .grad is "
            f"{shown(mixed['y.grad'])} by then."
        )
    return found


def _sums(evidence: Evidence) -> list[str]:
    sums = figures(evidence, "accumulation", "torch-tape")
    if not sums:
        return []
    one, two = (shown(unwrapped(each)) for each in sums[".grad after each backward"])
    returned = [
        f"{ENGINES[engine]} returns {', then '.join(shown(unwrapped(each)) for each in again['gradients'])}"
        for engine in ENGINES
        if (again := figures(evidence, "called_again", engine))
    ]
    return [
        f"PyTorch's .grad is {one} after one backward and {two} after two. {'; '.join(returned)}."
    ]


def _records(evidence: Evidence) -> list[str]:
    found = []
    for engine in ("mindspore-tape", "mindspore-graph"):
        alone = figures(evidence, "forward_alone", engine)
        told = [
            f"{alone[name]['saved']} saved tensors {name}"
            for name in alone
            if isinstance(alone[name], dict)
        ]
        found += [f"{ENGINES[engine]}: one forward leaves {', '.join(told)}."] if told else []
    return found


def _changes(evidence: Evidence) -> list[str]:
    groups: dict[str, list[str]] = {}
    for engine, name in ENGINES.items():
        changed = figures(evidence, "in_place", engine)
        if changed:
            outcome = right(changed["result"], TRUE_IN_PLACE["result"])
            told = (
                refusal(changed["result"])
                if outcome == "raises"
                else f"{outcome}, {shown(changed['result'])}"
            )
            groups.setdefault(told, []).append(name)
    truth = shown(TRUE_IN_PLACE["result"])
    told = "; ".join(f"{outcome} ({', '.join(names)})" for outcome, names in groups.items())
    return (
        [
            f"With the result of exp changed in place before the backward, {truth} is the truth: {told}."
        ]
        if groups
        else []
    )


def _hooks(evidence: Evidence) -> list[str]:
    orders = {ENGINES[engine]: figures(evidence, "hooks", engine).get("order") for engine in TAPES}
    told = "; ".join(
        f"{', '.join(f'“{kind}”' for kind in order)} ({name})"
        for name, order in orders.items()
        if order
    )
    return [f"Hooks are called in this order: {told}."] if told else []


def _arguments(evidence: Evidence) -> list[str]:
    groups: dict[str, list[str]] = {}
    moved: dict[str, list[str]] = {}
    for engine, name in ENGINES.items():
        answer = figures(evidence, "answers", engine).get("by a")
        if answer and not raised(answer):
            groups.setdefault(shown(next(iter(answer.values()))), []).append(name)
        extra = figures(evidence, "extra_output", engine)
        if extra:
            by = greatest_difference(extra["every output"], extra["first output alone"])
            moved.setdefault(f"{by:.3g}", []).append(name)
    told = "; ".join(f"{value} ({', '.join(names)})" for value, names in groups.items())
    found = (
        [f"One tensor passed as both arguments, differentiated by the first: {told}."]
        if groups
        else []
    )
    told = "; ".join(f"{by} ({', '.join(names)})" for by, names in moved.items())
    return [
        *found,
        *(
            [f"Differentiating an extra output along moves the weight's gradient by up to {told}."]
            if moved
            else []
        ),
    ]


# Tables


def _moments(evidence: Evidence) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for engine in TAPES:
        for moment, each in figures(evidence, "freeing", engine).items():
            rows.append(
                (
                    ENGINES[engine],
                    moment,
                    each["nodes"],
                    each["tensors"],
                    each["bytes"],
                    each["of inputs and parameters"],
                )
            )
    return Table(
        title="What is alive when",
        columns=(
            "tape",
            "moment",
            "nodes",
            "saved tensors",
            "bytes",
            "bytes of inputs and parameters",
        ),
        rows=tuple(rows),
        note="Nodes without leaves. Bytes are of storages that only the tape keeps, each once. "
        + missing(evidence),
    )


def _second(evidence: Evidence) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for way, each in figures(evidence, "second_backward", "torch-tape").items():
        second = refusal(each["second"]) if raised(each["second"]) else each["second"]
        rows.append(
            (
                way,
                second,
                *(shown(unwrapped(grad)) for grad in each[".grad"]),
                each[".grad is on a tape"],
            )
        )
    return Table(
        title="A second backward through PyTorch's tape",
        columns=(
            "first backward with",
            "second backward",
            ".grad after one",
            ".grad after two",
            ".grad is on a tape",
        ),
        rows=tuple(rows),
        note=missing(evidence),
    )


def _switches(evidence: Evidence) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (label, each.get("nodes"), each.get("saved"), shown(each["gradient"]))
        for label, each in figures(evidence, "switches", "torch-tape").items()
    ]
    rows += [
        (
            f"MindSpore, {engine.partition('-')[2]}: a forward {label}",
            each["nodes"],
            each["saved"],
            None,
        )
        for engine in ("mindspore-tape", "mindspore-graph")
        for label, each in figures(evidence, "forward_alone", engine).items()
        if isinstance(each, dict)
    ]
    return Table(
        title="What a forward records, by how it is called",
        columns=("forward", "nodes", "saved tensors", "gradient afterwards"),
        rows=tuple(rows),
        note=f"PyTorch on the sum of cubes; MindSpore on the scenario. {missing(evidence)}".strip(),
    )


def _savers(evidence: Evidence) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for engine, name in ENGINES.items():
        life = figures(evidence, "lifetime", engine)
        rows += [(name, op, count) for op, count in sorted(life.get("savers", {}).items())]
    return Table(
        title="Saved tensors by operator",
        columns=("engine", "operator", "saved tensors"),
        rows=tuple(rows),
        note="PyTorch's tape: by the node that keeps them. MindSpore's tape: by the operator that ran when they were saved. "
        f"Graphs: forward values that the backward reads, by the operator that made them. {missing(evidence)}".strip(),
    )


# Charts


def _timeline(evidence: Evidence) -> tuple[Chart, ...]:
    series = []
    for engine, name in ENGINES.items():
        life = figures(evidence, "lifetime", engine)
        if life:
            series.append(Series(name, *_placed(life["steps"])))
    if not series:
        return ()
    most = ", ".join(f"{each.name}: {max(y or 0 for y in each.y):.0f}" for each in series)
    return (
        Chart(
            name="bytes-alive",
            title="Bytes kept for the backward",
            kind="steps",
            x="0 to 1: the forward, operator by operator; 1 to 2: the backward",
            y="bytes beyond inputs and parameters",
            series=tuple(series),
            note=f"At most {most}. Tapes are watched; of graphs it is read off what the backward still needs.",
        ),
    )


def _placed(steps: list[Figures]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The steps at which the bytes kept change, on a scale on which every forward and every
    backward has length one.
    """
    count = Counter(step["phase"] for step in steps)
    seen: Counter[str] = Counter()
    xs, ys = [0.0], [0.0]
    for number, step in enumerate(steps, 1):
        seen[step["phase"]] += 1
        if step["bytes"] != ys[-1] or number == len(steps):
            xs.append(
                round((step["phase"] == "backward") + seen[step["phase"]] / count[step["phase"]], 6)
            )
            ys.append(float(step["bytes"]))
    return tuple(xs), tuple(ys)


def _peaks(evidence: Evidence) -> tuple[Chart, ...]:
    found = {
        name: peak(life)
        for engine, name in ENGINES.items()
        if (life := figures(evidence, "lifetime", engine))
    }
    if not found:
        return ()
    names = tuple(found)
    kinds = {"bytes": "made by the forward", "of inputs and parameters": "inputs and parameters"}
    return (
        Chart(
            name="bytes-kept",
            title="Kept at the end of the forward",
            kind="bars",
            x="engine",
            y="bytes",
            series=tuple(
                Series(told, names, tuple(float(found[name][key]) for name in names))
                for key, told in kinds.items()
            ),
        ),
    )
