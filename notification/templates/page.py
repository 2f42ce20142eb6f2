"""The HTML of a mail. Mail programs know little CSS: tables place, styles are inline, and nothing is loaded from anywhere."""

from collections.abc import Sequence
from string import Template
from typing import Final, NamedTuple

from infra.kernel.html import Html, filled

_FONT: Final = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

_PAGE: Final = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>$title</title>
<style>
@media (prefers-color-scheme: dark) {
  .ground { background: #131416 !important; }
  .card { background: #1d1f22 !important; border-color: #2c2f33 !important; }
  .strong { color: #f2f3f4 !important; }
  .soft { color: #a3a8ae !important; }
  .rule { border-color: #2c2f33 !important; }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f4f4f2">
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f4f4f2">
<tr><td align="center" style="padding:40px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;font-family:$font">
<tr><td class="soft" style="padding:0 4px 14px;font-size:13px;font-weight:600;color:#6b7075">$brand</td></tr>
<tr><td class="card" style="background:#ffffff;border:1px solid #e5e5e1;border-radius:12px;padding:8px 28px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0">
$rows
</table>
</td></tr>
<tr><td class="soft" style="padding:18px 4px 0;font-size:12px;line-height:1.6;color:#6b7075">$because
<a class="soft" href="$unsubscribe_url" style="color:#6b7075;text-decoration:underline">Unsubscribe</a></td></tr>
</table>
</td></tr>
</table>
</body>
</html>
""")

_ROW: Final = Template("""\
<tr><td class="rule" style="padding:20px 0;$rule">
<div class="strong" style="font-size:17px;line-height:1.4;font-weight:600;color:#17181a">$headline</div>
$detail<div class="soft" style="padding-top:6px;font-size:13px;color:#6b7075">$when</div>
</td></tr>""")

_DETAIL: Final = Template('<div class="strong" style="padding-top:2px;font-size:17px;line-height:1.4;color:#17181a">$detail</div>\n')
_MORE: Final = Template("""\
<tr><td class="rule soft" style="padding:16px 0;border-top:1px solid #ededea;font-size:14px;color:#6b7075">$more</td></tr>""")


class MailItem(NamedTuple):
    """A notification in the page of a mail, as plain text; `detail` may be empty."""

    headline: str
    detail: str
    when: str


def render(title: str, brand: str, items: Sequence[MailItem], more: str, because: str, unsubscribe_url: str) -> Html:
    """Returns the page of a mail. All arguments are plain text.

    - `title`, `brand`: the subject, and who writes.
    - `items`: one row each.
    - `more`: what was left out; may be empty.
    - `because`: why the user gets this mail.
    - `unsubscribe_url`: where the link in the footer leads.
    """
    rows = [_row(item, is_first=not index) for index, item in enumerate(items)]
    if more:
        rows.append(filled(_MORE, more=more))
    return filled(
        _PAGE,
        title=title,
        font=Html(_FONT),  # its quotes stand in an attribute in double quotes
        brand=brand,
        rows=Html("\n".join(rows)),
        because=because,
        unsubscribe_url=unsubscribe_url,
    )


def _row(item: MailItem, *, is_first: bool) -> Html:
    return filled(
        _ROW,
        rule="" if is_first else "border-top:1px solid #ededea",
        headline=item.headline,
        detail=filled(_DETAIL, detail=item.detail) if item.detail else "",
        when=item.when,
    )
