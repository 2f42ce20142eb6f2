"""The end of a complaint about a word that is not known."""

import difflib
from collections.abc import Iterable


def suggest(word: str, known: Iterable[str]) -> str:
    """Returns a question with the `known` word that is nearest to `word`; where none is near, all of them."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(names)}"
