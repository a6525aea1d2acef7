"""Messages of the core that are shown to users.

The core has no translations. `console.ui.core.words` lists the templates and translates them.
"""


class Message(str):
    """An English message for logs, audit records and errors, which remembers its template and
    parameters.

    A parameter may be a `Message`. Other parameters are numbers, names and messages from other
    programs. msgspec does not encode subclasses of str; convert the message with `str()` first.
    """

    template: str
    params: dict[str, str | int]

    def __new__(cls, template: str, **params: str | int) -> "Message":
        sentence = super().__new__(cls, template % params)
        sentence.template, sentence.params = template, params
        return sentence
