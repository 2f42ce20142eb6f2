"""Numbers in words."""


def told(value: float, form: str) -> str:
    """`value` in that format; a per cent sign stands apart from its number, as in the rest of the text."""
    return format(value, form).replace("%", " %")
