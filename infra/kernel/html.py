"""HTML that is safe by construction: text is escaped unless it is `Html` already. For reports, pages and mails."""

from html import escape
from string import Template


class Html(str):
    """Markup that may stand in a page as it is."""

    __slots__ = ()


def escaped(text: str) -> Html:
    """Returns `text` as markup: escaped, also for an attribute in quotes; `Html` is returned as it is."""
    return text if isinstance(text, Html) else Html(escape(text))


def joined(*parts: str) -> Html:
    """Returns `parts` one after the other; those that are plain text are escaped."""
    return Html("".join(map(escaped, parts)))


def filled(template: Template, **values: str) -> Html:
    """Returns the markup of `template` with `values` in its places; those that are plain text are escaped.

    Raises KeyError when a place has no value.
    """
    return Html(template.substitute({name: escaped(value) for name, value in values.items()}))
