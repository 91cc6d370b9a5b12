"""`foreland schema`: what the files may hold that a person may write."""

from __future__ import annotations

import json

import click
from pydantic import TypeAdapter

from app.storage.preferences import Preferences
from app.storage.worlds import WORLD_FILE
from engine.models.action_words import WORDS_FILE
from engine.runtime.keymap import KEYMAP_FILE
from engine.runtime.score import SCORE_FILE
from engine.runtime.script import SCRIPT_FILE

KINDS: dict[str, TypeAdapter] = {
    "script": SCRIPT_FILE,
    "score": SCORE_FILE,
    "world": WORLD_FILE,
    "keymap": KEYMAP_FILE,
    "words": WORDS_FILE,
    "preferences": TypeAdapter(Preferences),
}


@click.command()
@click.argument("kind", type=click.Choice(list(KINDS)))
def schema(kind: str) -> int:
    """Print the JSON schema of a kind of file, for editors and validators."""
    click.echo(json.dumps(KINDS[kind].json_schema(), indent=2))
    return 0
