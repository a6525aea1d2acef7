"""Write `devcluster/types.json`: the fields of Kubernetes' built-in types with their protobuf
numbers.

The embedded cluster decodes requests in Kubernetes' protobuf encoding and rejects unknown
fields, so it needs the field names, numbers and types. This script extracts them from the Go
modules that declare the API. Run it after an update of the Kubernetes version:

    python scripts/builtin_types.py "$(go env GOMODCACHE)/k8s.io" v0.36.3

A field is `"name": "number type"`. Types: `s` string, `i` integer, `b` boolean, `f` float, `y`
bytes, `group.Name` a message, or a special type. Prefixes: `[]` list, `{}` map, `=` a message
that wraps a list. `?` after the number: empty values are omitted. A name that starts with `+` is
an embedded message, whose fields belong to its parent.
"""

import json
import re
import sys
from pathlib import Path

_GROUPS = [
    "core/v1",
    "apps/v1",
    "batch/v1",
    "rbac/v1",
    "policy/v1",
    "autoscaling/v1",
    "autoscaling/v2",
    "coordination/v1",
    "networking/v1",
    "storage/v1",
    "scheduling/v1",
    "discovery/v1",
    "events/v1",
    "authentication/v1",
    "authorization/v1",
    "certificates/v1",
    "admissionregistration/v1",
]
_META = "meta/v1"
_PLAIN = {
    "string": "s",
    "bool": "b",
    "int32": "i",
    "int64": "i",
    "int": "i",
    "uint32": "i",
    "float64": "f",
    "byte": "y",
    "UID": "s",
    "NodeName": "s",
}
_SPECIAL = {
    "Quantity",
    "IntOrString",
    "RawExtension",
    "Time",
    "MicroTime",
    "Duration",
    "FieldsV1",
}
_FIELD = re.compile(r'^\t(?:(\w+)\s+)?([\w.*\[\]{}]+)\s+`json:"([^"]*)"[^`]*protobuf:"[^",]*,(\d+)')
_STRUCT = re.compile(r"^type (\w+) struct \{")
_NAMED = re.compile(r"^type (\w+) (\[\]|map\[\w+\])?([\w.]+)$")


class Declarations:
    """Type declarations in Go source files."""

    def __init__(self) -> None:
        self.structs: dict[str, list[tuple[str, str, str]]] = {}
        self.named: dict[str, str] = {}

    def read(self, package: str, text: str) -> None:
        aliases = _imports(text)
        struct = ""
        for line in text.splitlines():
            if found := _STRUCT.match(line):
                struct = f"{package}.{found[1]}"
                self.structs[struct] = []
            elif found := _NAMED.match(line):
                inner = _qualify(found[3], package, aliases)
                self.named[f"{package}.{found[1]}"] = (found[2] or "") + inner
            elif struct and (found := _FIELD.match(line)):
                kind = _qualify(found[2], package, aliases)
                self.structs[struct].append((found[3], kind, found[4]))

    def field_type(self, kind: str) -> str:
        """Return a type in the notation of the output file."""
        kind = kind.lstrip("*")
        if kind.startswith("[]"):
            inner = self.field_type(kind[2:])
            return inner if inner == "y" else f"[]{inner}"
        if kind.startswith("map["):
            return "{}" + self.field_type(kind.split("]", 1)[1])
        short = kind.rpartition(".")[2]
        if short in _SPECIAL:
            return short
        if kind in self.named:
            inner = self.named[kind]
            # A named list is a message that contains the list. A named map is a plain map.
            return (
                f"={self.field_type(inner)}" if inner.startswith("[]") else self.field_type(inner)
            )
        if kind in self.structs:
            return _short(kind)
        return _PLAIN[short]


def _imports(text: str) -> dict[str, str]:
    aliases = {}
    for alias, path in re.findall(r'^\s+(?:(\w+) )?"(k8s\.io/[^"]+)"', text, re.MULTILINE):
        package = "/".join(path.split("/")[-2:])
        aliases[alias or path.rpartition("/")[2]] = package
    return aliases


def _qualify(kind: str, package: str, aliases: dict[str, str]) -> str:
    found = re.match(r"^((?:\*|\[\]|map\[\w+(?:\.\w+)?\])*)([\w.]+)$", kind)
    if not found:
        return kind
    prefix, name = found.groups()
    alias, dot, short = name.partition(".")
    if dot:
        return f"{prefix}{aliases.get(alias, alias)}.{short}"
    return f"{prefix}{name}" if name in _PLAIN else f"{prefix}{package}.{name}"


def _short(struct: str) -> str:
    package, _, name = struct.rpartition(".")
    group, version = package.split("/")
    return f"{group}.{name}" if version == "v1" else f"{group}/{version}.{name}"


def table(declarations: Declarations) -> dict[str, dict[str, str]]:
    found = {}
    for struct, fields in declarations.structs.items():
        entries = {}
        for tag, kind, number in fields:
            name, _, options = tag.partition(",")
            pointer = kind.startswith("*")
            omits = "?" if "omitempty" in options and not pointer else ""
            try:
                entry = f"{number}{omits} {declarations.field_type(kind)}"
            except KeyError:
                continue
            entries[name or f"+{kind.rpartition('.')[2]}"] = entry
        found[_short(struct)] = entries
    return found


def main(modules: Path, version: str) -> None:
    declarations = Declarations()
    meta = modules / f"apimachinery@{version}/pkg/apis/meta/v1/types.go"
    declarations.read(_META, meta.read_text())
    for group in _GROUPS:
        declarations.read(group, (modules / f"api@{version}" / group / "types.go").read_text())
    target = Path(__file__).parent.parent / "devcluster" / "types.json"
    lines = (
        f"{json.dumps(name)}: {json.dumps(fields)}"
        for name, fields in sorted(table(declarations).items())
    )
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
