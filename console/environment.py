"""Secret values of environment variables, or of the files that they name."""

import os
from pathlib import Path


def secret(name: str) -> str:
    """Return the value of `name`, or the content of the file that `NAME_FILE` names, or "".

    A variable can be read in `/proc/1/environ` by everybody who may open a terminal in the pod, and
    mostly comes from a Secret. A file can come from any volume, such as a CSI secret store. Exit
    with a message if both are set or if the file is empty or unreadable.
    """
    value, path = os.environ.get(name, ""), os.environ.get(f"{name}_FILE", "")
    if not path:
        return value
    if value:
        raise SystemExit(f"Set {name} or {name}_FILE, not both")
    try:
        content = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{name}_FILE can't be read: {error}") from error
    if not content:
        raise SystemExit(f"{name}_FILE is empty: {path}")
    return content
