"""The page behind an unsubscribe link: one question, one button, no script."""

from string import Template
from typing import Final

from infra.kernel.html import Html, filled

from .unsubscribe import ALL, UnsubscribeWish

_PAGE: Final = Template("""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>$title</title>
<style>
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif }
body { max-width: 30em; margin: 15vh auto; padding: 0 1.5em }
button { font: inherit; padding: .6em 1.4em; border: 0; border-radius: .5em; background: #1a7f4b; color: #fff; cursor: pointer }
</style>
<h1>$title</h1>
<p>$text</p>
$form
</html>
""")
_FORM: Final = Html('<form method="post"><button>Send me no more of these</button></form>')


def page(wish: UnsubscribeWish, *, asked: bool) -> bytes:
    """Returns the question about `wish` where `asked`, else the answer."""
    what = "mails" if wish.cls == ALL else f"mails about {wish.cls.replace('-', ' ')}s"
    title = "No more mails?" if asked else "Done"
    text = (
        f"{wish.user}, you get {what} when you are offline."
        if asked
        else f"{wish.user}, you get no more {what}. You can change that in your settings."
    )
    return filled(_PAGE, title=title, text=text, form=_FORM if asked else "").encode()
