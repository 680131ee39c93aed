"""Nested arguments with other things in the places of some."""

from explorer.engines.nested import replaced


def test_leaves_are_replaced_from_left_to_right_and_containers_stay_what_they_are() -> None:
    seen: list[object] = []

    def count(leaf: object) -> object:
        seen.append(leaf)
        return len(seen) if isinstance(leaf, str) else leaf

    nested = ("a", ["b", 7], {"k": ("c",), "n": None})
    assert replaced(nested, count) == (1, [2, 7], {"k": (4,), "n": None})
    assert seen == ["a", "b", 7, "c", None]


def test_a_leaf_alone_is_replaced_too() -> None:
    assert replaced("a", str.upper) == "A"
