"""`segue privacy`: who sees what a user plays, who sees their playlists, and private sessions."""

from datetime import datetime
from typing import get_args

import click

from infra.kernel.printable import printable
from segue.sdk.social import Listeners, PlaylistState, PrivateDevice, Social, Viewing

from .access import Access
from .finite import Finite
from .user_access import at_social, social_options


@click.group()
def privacy() -> None:
    """Show or set who sees what a user plays, and who sees their playlists."""


@privacy.command()
@social_options
def show(user: str | None, access: Access) -> None:
    """Print who sees what the user plays, which devices are private, and whom the user blocks."""
    state = at_social(access, user, lambda social: social.privacy())
    click.echo(f"what you play is seen by: {state.listening}")
    for device in state.private:
        click.echo(_told(device))

    async def work(social: Social) -> list[str]:
        return [each async for each in social.blocks()]

    if blocked := at_social(access, user, work):
        click.echo(f"you block: {printable(', '.join(blocked))}")


@privacy.command()
@click.argument("who", type=click.Choice(get_args(Listeners)))
@social_options
def listening(who: Listeners, user: str | None, access: Access) -> None:
    """Say who sees what the user plays. Friends follow each other."""
    state = at_social(access, user, lambda social: social.set_listening(who))
    click.echo(f"what you play is seen by: {state.listening}")


@privacy.command()
@click.argument("playlist")
@click.argument("who", type=click.Choice(get_args(Viewing)), required=False)
@click.option("--editor", "editors", multiple=True, help="Put this user on the list of editors. May be repeated.")
@click.option("--no-editor", "former", multiple=True, help="Take this user off the list of editors. May be repeated.")
@social_options
def playlist(
    playlist: str, who: Viewing | None, editors: tuple[str, ...], former: tuple[str, ...], user: str | None, access: Access
) -> None:
    """Show who sees PLAYLIST of the user, by its id, and who edits it; or say so."""

    async def work(social: Social) -> PlaylistState:
        if who is not None:
            await social.set_playlist(playlist, who)
        for editor in editors:
            await social.set_editor(playlist, editor)
        for editor in former:
            await social.set_editor(playlist, editor, wanted=False)
        return await social.playlist(playlist)

    state = at_social(access, user, work)
    click.echo(f"{playlist} is {state.visibility if state.visibility != 'followers' else 'for your followers'}")
    if state.editors:
        click.echo(f"its editors: {printable(', '.join(state.editors))}")


@privacy.command()
@click.argument("client")
@click.option("--hours", type=Finite(min=0.01, max=8_784), help="End it by itself after so long.  [default: it lasts until --off]")
@click.option("--off", is_flag=True, help="End it.")
@social_options
def session(client: str, hours: float | None, off: bool, user: str | None, access: Access) -> None:
    """Make the device CLIENT private: nobody sees what is played on it."""
    if off:
        at_social(access, user, lambda social: social.end_private(client))
        click.echo(f"{client} is not private")
    else:
        click.echo(_told(at_social(access, user, lambda social: social.begin_private(client, hours))))


def _told(device: PrivateDevice) -> str:
    client = printable(device.client)
    if device.until_ms is None:
        return f"{client} is private"
    return f"{client} is private until {datetime.fromtimestamp(device.until_ms / 1000).astimezone():%Y-%m-%d %H:%M}"
