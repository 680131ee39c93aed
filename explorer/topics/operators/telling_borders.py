"""What the study tells of borders: pooling and convolution with "same", "valid" and padding by
hand, and on which side.
"""

from collections.abc import Iterator

from explorer.model.study import Cell, Table
from explorer.topics.evidence import Evidence
from explorer.topics.operators import asked
from explorer.topics.operators.facts import odd_sides, sized, valid_size
from explorer.topics.operators.shown import (
    NONE,
    TITLES,
    Found,
    alike,
    found,
    joined,
    message,
    missing,
    short,
    tell,
)
from explorer.topics.studying import Telling


def told(evidence: Evidence) -> Telling:
    """Findings and tables of pooling and convolution at the border."""
    pool, sides, valid = (
        found(evidence, asked.POOL),
        found(evidence, asked.SIDES),
        found(evidence, asked.VALID),
    )
    numbers = found(evidence, asked.SIDES_OF_A_NUMBER)
    return tell(
        findings=[*_of_pool(pool), *_of_sides(sides, numbers), *_of_valid(valid)],
        tables=[
            _pool(pool, missing(evidence, asked.POOL)),
            _sides(sides, numbers, missing(evidence, asked.SIDES)),
            _zeros(sides),
            _valid(valid, missing(evidence, asked.VALID)),
        ],
    )


def _of_pool(pool: Found) -> Iterator[str]:
    for way in ("same", "zeros top and left, then valid"):
        figures = {who: each[way] for who, each in pool.items() if way in each}
        if figures:
            yield f"Max pooling of 0..8, window 2, stride 2, {way}: {joined(alike(figures))}."


def _pool(pool: Found, note: str) -> Table:
    ways = list(dict.fromkeys(way for each in pool.values() for way in each))
    rows = tuple(
        (way, *(short(each[way]) if way in each else NONE for each in pool.values()))
        for way in ways
    )
    columns = ("padding", *(TITLES[who] for who in pool))
    return Table(
        title="Max pooling of 0..8 in 3 x 3, window 2, stride 2",
        columns=columns,
        rows=rows,
        note=note,
    )


def _of_sides(sides: Found, numbers: Found) -> Iterator[str]:
    for who, each in sides.items():
        odd = odd_sides(each)
        refused = (
            f"; refuses {len(odd['refused'])} of {len(each)} settings ({_why(each, odd['refused'])})"
            if odd["refused"]
            else ""
        )
        yield (
            f'{TITLES[who]}\'s convolution with "same" puts the odd zero after (right, bottom) in {len(odd["after"])} cases '
            f"and before (left, top) in {len(odd['before'])}{refused}."
        )
    uneven = {
        who: {case: zeros for case, zeros in each.items() if zeros[0] != zeros[1]}
        for who, each in numbers.items()
    }
    words = {
        who: "; ".join(
            f"{case}: {before} before, {after} after" for case, (before, after) in each.items()
        )
        for who, each in uneven.items()
    }
    for who, text in alike({who: text for who, text in words.items() if text}, str).items():
        yield f"With padding=1 and one zero too many, {who} use: {text}."


def _why(each: Found | object, refused: list[str]) -> str:
    return message(each[refused[0]])  # type: ignore[index]  # figures by case


def _sides(sides: Found, numbers: Found, note: str) -> Table:
    rows = []
    for who, each in sides.items():
        odd = odd_sides(each)
        even = len(each) - sum(map(len, odd.values()))
        rows.append(
            (
                TITLES[who],
                '"same"',
                len(each),
                even,
                len(odd["after"]),
                len(odd["before"]),
                len(odd["refused"]),
            )
        )
    for who, each in numbers.items():
        odd = odd_sides(each)
        even = len(each) - sum(map(len, odd.values()))
        rows.append(
            (
                TITLES[who],
                "padding=1",
                len(each),
                even,
                len(odd["after"]),
                len(odd["before"]),
                len(odd["refused"]),
            )
        )
    columns = ("framework", "padding", "cases", "even", "odd, after", "odd, before", "refused")
    return Table(
        title="Convolution: where an odd zero goes", columns=columns, rows=tuple(rows), note=note
    )


def _zeros(sides: Found) -> Table:
    """Zeros before and after for the sizes 5 and 6."""
    cases = [
        case
        for case in next(iter(sides.values()), {})
        if sized(case)[0] in (5, 6) and sized(case)[1] > 1
    ]
    rows = tuple((case, *(short(each[case]) for each in sides.values())) for case in cases)
    note = "[before, after], read off a kernel that copies the first element of its window."
    return Table(
        title='Convolution: zeros that "same" adds',
        columns=("case", *(TITLES[who] for who in sides)),
        rows=rows,
        note=note,
    )


def _of_valid(valid: Found) -> Iterator[str]:
    if valid:
        right = {
            TITLES[
                who
            ]: f"{sum(size == valid_size(case) for case, made in each.items() for size in made)} of {3 * len(each)}"
            for who, each in valid.items()
        }
        yield f"Without padding the output size is floor((size - kernel) / stride) + 1 in: {joined(right)} cases."


def _valid(valid: Found, note: str) -> Table:
    cases = [case for case in next(iter(valid.values()), {}) if sized(case)[0] in (5, 8)]
    rows: list[tuple[Cell, ...]] = [
        (case, valid_size(case), *(short(each[case]) for each in valid.values())) for case in cases
    ]
    columns = ("case", "formula", *(TITLES[who] for who in valid))
    title = "Output size without padding: convolution, max pool, average pool"
    return Table(title=title, columns=columns, rows=tuple(rows), note=note)
