"""The published forms that can be imported, by name."""

from collections.abc import Mapping
from typing import Final

from . import cascades, ciao, collegemsg, delicious, edges, email_eu, higgs, lastfm, stackexchange, twitter_stars
from .format import Format

FORMATS: Final[Mapping[str, Format]] = {
    module.FORMAT.key: module.FORMAT
    for module in (lastfm, ciao, higgs, twitter_stars, collegemsg, email_eu, cascades, delicious, stackexchange, edges)
}
