"""What the figures of the higher-order study say: findings, tables and charts; no framework here."""

from typing import Any

import numpy as np

from explorer.model.engines import ENGINES
from explorer.model.study import Cell, Chart, Series, Table
from explorer.topics.attempts import raised, said
from explorer.topics.evidence import Evidence
from explorer.topics.higher_order import given
from explorer.topics.higher_order.reading import (
    NAMES,
    NEAR,
    NONE,
    apart,
    figures_of,
    shown,
    why_missing,
)
from explorer.topics.higher_order.telling_derivatives import operators, transformations
from explorer.topics.studying import Telling


def tell(evidence: Evidence) -> Telling:
    """Findings, tables and charts of whatever was measured."""
    names = [name.split(".")[2] for name in evidence if name.startswith("higher-order.orders.")]
    nets = list(dict.fromkeys(names)) or ["wave"]
    parts = [
        *(_orders(evidence, net) for net in nets),
        *(_nodes(evidence, net) for net in nets),
        _times(evidence, nets[0]),
        operators(evidence),
        transformations(evidence),
    ]
    return Telling(
        findings=tuple(finding for each in parts for finding in each.findings),
        tables=tuple(table for each in parts for table in each.tables),
        charts=tuple(chart for each in parts for chart in each.charts),
    )


# Orders 1 to 5 of one net


def expected(evidence: Evidence, net: str) -> dict[str, dict[str, Any]]:
    """What every engine is held against, by input and order: the closed form of the wave, else
    torch.func in float64.
    """
    if net == "wave":
        return {
            "x": {str(order): given.sampled(np.array(given.wave(order))) for order in given.ORDERS}
        }
    found: dict[str, dict[str, Any]] = evidence.get(f"higher-order.orders.{net}.reference", {}).get(
        "by input", {}
    )
    return found


def _orders(evidence: Evidence, net: str) -> Telling:
    engines = [*ENGINES, *(["reference"] if net == "wave" else [])]
    found = figures_of(evidence, f"orders.{net}", engines)
    wanted = expected(evidence, net)
    against = "the closed form" if net == "wave" else NAMES["reference"]
    places = [(name, order) for name, by_order in wanted.items() for order in by_order]
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            int(order),
            shown(wanted[name][order]),
            *(shown(_at(found.get(engine), name, order)) for engine in engines),
        )
        for name, order in places
    ]
    table = Table(
        title=f"Derivatives of {net}, orders 1 to {given.ORDERS[-1]}",
        columns=("by", "order", against, *(NAMES[engine] for engine in engines)),
        rows=tuple(rows),
        note=why_missing(evidence, f"orders.{net}", engines),
    )
    findings = [
        _held(net, engine, figures, wanted, against)
        for engine, figures in found.items()
        if _comparable(wanted)
    ]
    return Telling(findings=tuple(findings), tables=(table,))


def _comparable(wanted: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """The inputs and orders for which there is something to hold an engine against."""
    return [
        (name, order)
        for name, by_order in wanted.items()
        for order in by_order
        if not raised(by_order[order])
    ]


def _at(figures: dict[str, Any] | None, name: str, order: str) -> Any:
    return (figures or {}).get("by input", {}).get(name, {}).get(order)


def _held(
    net: str, engine: str, figures: dict[str, Any], wanted: dict[str, dict[str, Any]], against: str
) -> str:
    """How one engine stands against what is expected, counted."""
    places = _comparable(wanted)
    gaps: dict[tuple[str, str], float] = {}
    messages: dict[str, list[tuple[str, str]]] = {}
    for name, order in places:
        figure = _at(figures, name, order)
        if raised(figure):
            messages.setdefault(said(figure), []).append((name, order))
        elif figure:
            gaps[name, order] = apart(figure["elements"], wanted[name][order]["elements"])
    near = [place for place, gap in gaps.items() if gap <= NEAR]
    told = f"{net}, {NAMES[engine]}: {len(near)} of {len(places)} nested gradients agree with {against}"
    told += (
        f" (greatest relative difference {max(gaps[place] for place in near):.2g})" if near else ""
    )
    off = [(place, gap) for place, gap in gaps.items() if gap > NEAR]
    if off:
        told += f"; {len(off)} do not, first by {off[0][0][0]} at order {off[0][0][1]}, off by {off[0][1]:.2g}"
    for message, refused in messages.items():
        first = min(refused, key=lambda place: int(place[1]))
        told += f"; {len(refused)} raise, from order {first[1]} on ({message})"
    return told + "."


# Node counts


def _nodes(evidence: Evidence, net: str) -> Telling:
    found = figures_of(evidence, f"nodes.{net}", tuple(ENGINES))
    columns = [(engine, stage) for engine, figures in found.items() for stage in stages(figures)]
    rows: list[tuple[Cell, ...]] = [
        (order, *(counted(found[engine], order, stage) for engine, stage in columns))
        for order in given.ORDERS
    ]
    table = Table(
        title=f"Operators of the gradient of {net}, forward included, by order",
        columns=("order", *(f"{NAMES[engine]} ({stage})" for engine, stage in columns)),
        rows=tuple(rows) if columns else (),
        note=why_missing(evidence, f"nodes.{net}", tuple(ENGINES)),
    )
    lines = [
        (
            f"{NAMES[engine]} ({stage})",
            [counted(found[engine], order, stage) for order in given.ORDERS],
        )
        for engine, stage in columns
    ]
    drawn: dict[tuple[float | None, ...], list[str]] = {}
    for name, counts in lines:
        drawn.setdefault(
            tuple(float(each) if isinstance(each, int) else None for each in counts), []
        ).append(name)
    series = tuple(
        Series(" and ".join(names), tuple(map(float, given.ORDERS)), counts)
        for counts, names in drawn.items()
    )
    title = f"Operators of the gradient of {net}"
    chart = Chart(
        name=f"nodes_{net}",
        title=title,
        kind="line",
        x="order",
        y="operators",
        series=series,
        log=("y",),
    )
    findings = [
        f"{net}, {name}: {', '.join(map(str, counts))} operators at orders {given.ORDERS[0]} to {given.ORDERS[-1]}."
        for name, counts in lines
        if all(isinstance(each, int) for each in counts)
    ]
    return Telling(
        findings=tuple(findings),
        tables=(table,),
        charts=(chart,) if series and net == "wave" else (),
    )


def stages(figures: dict[str, Any]) -> list[str]:
    """The stages at which an engine's graph was counted, in order."""
    return list(
        dict.fromkeys(
            stage for each in figures["by order"].values() if not raised(each) for stage in each
        )
    )


def counted(figures: dict[str, Any], order: int, stage: str) -> int | str:
    """The operators at an order and stage, or the message of what was raised."""
    figure = figures["by order"].get(str(order), {})
    if raised(figure):
        return said(figure)
    count: int | str = figure.get(stage, NONE)
    return count


# Times


def _times(evidence: Evidence, net: str) -> Telling:
    turns = ("first", "next")
    found = {
        engine: measured.timings
        for engine in ENGINES
        if (measured := evidence.measured.get(f"higher-order.orders.{net}.{engine}"))
        and measured.timings
    }
    rows: list[tuple[Cell, ...]] = [
        (
            order,
            *(
                found[engine].get(f"order {order}, {turn} call", NONE)
                for engine in found
                for turn in turns
            ),
        )
        for order in given.ORDERS
    ]
    table = Table(
        title=f"Seconds of the first call, with whatever is compiled, and of the next ({net})",
        columns=("order", *(f"{NAMES[engine]}, {turn}" for engine in found for turn in turns)),
        rows=tuple(rows) if found else (),
        timing=True,
    )
    orders = tuple(map(float, given.ORDERS))
    series = tuple(
        Series(
            NAMES[engine],
            orders,
            tuple(times.get(f"order {order}, first call") for order in given.ORDERS),
        )
        for engine, times in found.items()
    )
    title = f"Seconds of the first call, with whatever is compiled ({net})"
    chart = Chart(
        name="seconds",
        title=title,
        kind="line",
        x="order",
        y="seconds",
        series=series,
        log=("y",),
        timing=True,
    )
    return Telling(findings=(), tables=(table,), charts=(chart,) if series else ())
