"""`encrypt`, the form in which KubeSphere's login page sends a password.

It is no encryption: the key is in every browser. It is read so that programs that log in to KubeSphere
can log in here; over TLS, `password` in clear is as good.
"""

import base64
import binascii
from itertools import zip_longest

KEY = "kubesphere"
MAX_LENGTH = 8192
#: Stands where the password was shorter than the key.
_FILLING = 64


def encode(password: str, key: str = KEY) -> str:
    """What a browser sends: the lowest bit of each sum, and half of it."""
    text = base64.b64encode(password.encode()).decode()
    salt = key + text[: max(0, len(text) - len(key))]
    sums = [
        ord(salted) + (ord(char) if char else _FILLING)
        for salted, char in zip_longest(salt, text, fillvalue="")
    ]
    signs = "".join("0" if each % 2 == 0 else "1" for each in sums)
    return base64.b64encode(signs.encode()).decode() + "@" + "".join(chr(n // 2) for n in sums)


def decode(value: str, key: str = KEY) -> str:
    """The password; "" for what cannot be one. Without an `@`, the value is the password itself."""
    signs, at, chars = value.partition("@")
    if not at:
        return value
    try:
        bits = base64.b64decode(signs, validate=True).decode("ascii")
        if len(value) > MAX_LENGTH or len(bits) != len(chars) or not set(bits) <= {"0", "1"}:
            return ""
        codes: list[int] = []
        for place, (bit, char) in enumerate(zip(bits, chars, strict=True)):
            salt = ord(key[place]) if place < len(key) else codes[place - len(key)]
            codes.append(2 * ord(char) - salt + int(bit))
        text = bytes(code for code in codes if code != _FILLING)
        return base64.b64decode(text, validate=True).decode()
    except (ValueError, binascii.Error):
        return ""
