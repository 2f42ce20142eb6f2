"""The headers that every answer of ours bears, whatever the door. Pure.

No answer is for a cache: what it says is about one user, and may be something else a moment later. Addresses hold names and signed
links, so no page tells them to the next one. What a page may read depends on its origin. Nothing is to be taken for another kind of text
than it says.
"""

from typing import Final

Headers = tuple[tuple[str, str], ...]

ALWAYS: Final[Headers] = (
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("Vary", "Origin"),
    ("X-Content-Type-Options", "nosniff"),
)
# For pages: nothing is loaded from anywhere, and nobody else's page shows ours inside of it.
PAGE: Final[Headers] = (
    ("Content-Type", "text/html; charset=utf-8"),
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
)
