"""Help of its own, for one verb, to options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import click


def with_help(texts: Mapping[str, str | None]) -> Callable[[click.Command], click.Command]:
    """Return a decorator that says what options mean to a verb, by their names such as ``--chunks``.

    ``None`` hides an option that the verb takes only to refuse it with a word on what to write instead.
    """

    def decorate(command: click.Command) -> click.Command:
        options = {name: option for option in command.params for name in option.opts}
        for name, text in texts.items():
            option = options[name]
            assert isinstance(option, click.Option)
            option.hidden = text is None
            option.help = text
        return command

    return decorate
