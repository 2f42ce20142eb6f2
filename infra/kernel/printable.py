"""Text from elsewhere, made safe for a terminal and for a log. Pure."""


def printable(text: str) -> str:
    """Returns `text` with every character that a terminal would obey, or not show, written as `\\uXXXX`.

    JSON stays JSON of the same value, for such characters stand in its strings only.
    """
    return text if text.isprintable() else "".join(char if char.isprintable() else _escaped(char) for char in text)


def printable_lines(text: str) -> str:
    """Returns `text` with each of its lines made `printable`."""
    return "\n".join(map(printable, text.split("\n")))


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
