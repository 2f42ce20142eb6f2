"""`segue new-secret`: an operator changes the secret that signs tokens, without a moment in which good tokens are refused."""

from pathlib import Path
from typing import Final

import click

from infra.runtime.secret_file import PREVIOUS_FILE, SECRET_FILE, forget_previous, renew_secret

from .state import default_state

RENEWED: Final = "{new} is new and signs from now on; tokens of {old} stay valid until: segue new-secret --forget-previous --state {state}"
FORGOTTEN: Final = "the secret before is gone; send SIGHUP to each process of Segue, and its tokens are no longer valid there"


@click.command("new-secret")
@click.option("--forget-previous", "is_end", is_flag=True, help="Make no new secret: end the one before the present one.")
@click.option("--state", type=click.Path(path_type=Path), default=default_state, help="Where the signing secret is kept.")
def new_secret(is_end: bool, state: Path) -> None:
    """Change the signing secret. The one before stays good for the tokens that it has signed."""
    if not is_end:
        renew_secret(state)
        click.echo(RENEWED.format(new=state / SECRET_FILE, old=state / PREVIOUS_FILE, state=state))
    elif forget_previous(state):
        click.echo(FORGOTTEN)
    else:
        click.echo(f"there is no {state / PREVIOUS_FILE}, so no token of a secret before is valid")
