"""What claim 85 says of the engines' answers to the same programs."""

from explorer.text.language import later

TEXTS = {
    "scenarios": later("scenarios"),
    "kinks": later("kinks"),
    "operators": later("operators"),
    "together": later("together"),
    "without_kinks": later("without kinks, where a gradient is a choice"),
    "programs": (later("{kind} ({n} program)"), later("{kind} ({n} programs)")),
    "by_style": later("{kind} on which both tapes differ from both graphs"),
    "counts": later(
        "{differing} differ, {style} by style, {framework} by framework, {other} otherwise"
    ),
}

ADVICE = {
    (85, "holds"): later("Where two frameworks differ, compare a tape with a tape first."),
    (85, "framework"): later(
        "At kinks look at the operator first: which derivative is taken is the framework's choice."
        " Elsewhere compare all four engines."
    ),
    (85, "does_not_hold"): later(
        "Compare all four engines where a port differs: no one axis explains most of it."
    ),
}
