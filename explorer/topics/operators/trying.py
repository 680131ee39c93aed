"""How a function of the study is shown: the text that it returns."""


def written(source: str) -> str:
    """The body of a function on one line: what it returns, or its statements."""
    lines = [line.strip() for line in source.splitlines()[1:] if line.strip()]
    return (
        lines[0].removeprefix("return ") if len(lines) == 1 else "; ".join(lines).replace(":;", ":")
    )
