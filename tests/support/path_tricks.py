"""Names that a server could mistake for steps of a path or for parameters."""

TRICKS = [
    "..",
    "../secret",
    "a/../secret",
    "a%2f..%2fsecret",
    "a?previous=true",
    "a#b",
    "a\nb",
    "a;b",
]
