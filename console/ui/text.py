"""Text of the cluster's tenants, made safe to look at.

Escaping for HTML is the templates' work. Here it is about what survives escaping and still deceives:
control characters, and the invisible and bidirectional ones that make a name read as another.
"""

import re

_SEAM = re.compile(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])")


def visible(text: str) -> str:
    """`text` with each character that cannot be seen written as its code point, `⟨U+202E⟩`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in text)


def visible_block(text: str) -> str:
    """The same of a text that has lines: their ends, and tabs, stay."""
    lines = (line.split("\t") for line in text.split("\n"))
    return "\n".join("\t".join(visible(part) for part in line) for line in lines)


def is_seen(text: str) -> bool:
    """Whether a text that has lines is what it looks like. Wide and narrow spaces deceive nobody."""
    plain = text.replace("\N{IDEOGRAPHIC SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ")
    return visible_block(plain) == plain


def spaced(text: str) -> str:
    """With a space wherever Chinese meets Latin letters or figures.

    For sentences that are made of parts, of which nobody knows in which script they begin and end
    (https://www.w3.org/TR/clreq/#mixed_text_composition_in_horizontal_writing_mode).
    """
    return _SEAM.sub(" ", text)


def dom_id(prefix: str, key: str) -> str:
    """An HTML id of a kind's URL segment and an object's key; different keys give different ids.

    ASCII letters, digits and `-` stay, every other byte becomes `_` and two hex digits, so that the id
    needs no escaping in a CSS selector.
    """
    return f"{_escape(prefix)}-{_escape(key)}"


def _escape(text: str) -> str:
    return "".join(_escape_byte(byte) for byte in text.encode())


def _escape_byte(byte: int) -> str:
    kept = byte < 0x80 and (chr(byte).isalnum() or byte == ord("-"))
    return chr(byte) if kept else f"_{byte:02x}"
