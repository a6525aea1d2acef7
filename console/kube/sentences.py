"""Sentences of the core's own, for people.

The core knows no translations. Whoever shows one of its sentences in another language needs the template
and what was put into it: `console.ui.words` lists the templates and has the words.
"""


class Sentence(str):
    """The English text, as logs, audit records and errors have it, and what it was made of.

    A parameter may be a sentence itself; others are numbers, names and somebody else's words. msgspec
    encodes plain texts alone: give it `str()` of one.
    """

    template: str
    params: dict[str, str | int]

    def __new__(cls, template: str, **params: str | int) -> "Sentence":
        sentence = super().__new__(cls, template % params)
        sentence.template, sentence.params = template, params
        return sentence
