"""Prints the commands of the Python package as JSON, for python.test.ts."""

import json

import click

from ropewalk.cli.program import create_program


def walk(group: click.Group, path: tuple[str, ...] = ()) -> None:
    for name, command in group.commands.items():
        below = (*path, name)
        if isinstance(command, click.Group):
            walk(command, below)
        elif command.hidden:
            elsewhere[" ".join(below)] = command.help
        else:
            # The text after the first paragraph is help that commander adds after the options.
            options = [describe(one) for one in command.params if isinstance(one, click.Option)]
            commands[" ".join(below)] = {"help": command.help.partition("\n\n")[0], "options": options}


def describe(option: click.Option) -> dict:
    is_set = isinstance(option.default, (str, int)) and not option.is_flag
    return {
        "names": option.opts,
        "takesValue": not option.is_flag,
        "choices": list(option.type.choices) if isinstance(option.type, click.Choice) else [],
        "default": str(option.default) if is_set else None,
        "help": option.help or "",
    }


commands: dict = {}
elsewhere: dict = {}
walk(create_program())
print(json.dumps({"commands": commands, "elsewhere": elsewhere}))
