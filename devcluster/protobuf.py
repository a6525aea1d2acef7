"""Decoder for Kubernetes' protobuf encoding, which kubectl uses for some requests.

Encoding: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding.
Responses are always JSON, which all clients accept too.
"""

import base64
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from devcluster.errors import StatusError, bad_request
from devcluster.fields import Field, find_struct, struct_name
from devcluster.objects import Obj, micro_timestamp, timestamp

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def decode_protobuf(data: bytes) -> Obj:
    """Return the decoded object with kind and apiVersion. Raise a 400 error if the data is
    malformed.
    """
    if not data.startswith(_MAGIC):
        raise _unreadable("the prefix is missing")
    try:
        return _envelope(data[len(_MAGIC) :])
    except (IndexError, struct.error, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise _unreadable(str(error)) from error


def _unreadable(why: str) -> StatusError:
    return bad_request(f"the body is not a Kubernetes object in protobuf: {why}")


def _envelope(data: bytes) -> Obj:
    raw, typed = b"", {1: "", 2: ""}
    for number, _, value in _parts(data):
        if number == 1:
            typed |= {n: bytes(v).decode() for n, _, v in _parts(value)}
        elif number == 2:
            raw = value
    group, _, version = typed[1].rpartition("/")
    name = struct_name(group, version, typed[2])
    if find_struct(name) is None:
        raise _unreadable(f"unknown kind {typed[2]} in {typed[1]}")
    return {"kind": typed[2], "apiVersion": typed[1], **_message(raw, name)}


def _parts(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield the field number, wire type and value of each field."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, position = _varint(data, position)
            yield number, wire, value
            continue
        if wire == _BYTES:
            size, position = _varint(data, position)
        else:
            size = {_FIXED64: 8, _FIXED32: 4}.get(wire, len(data) + 1)
        if position + size > len(data):
            raise IndexError("unexpected end of data")
        yield number, wire, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            # Negative numbers are encoded as 64 bits in two's complement.
            return (result - (1 << 64) if result >> 63 else result), position


def _message(data: bytes, name: str) -> Obj:
    known = find_struct(name)
    found: Obj = {}
    for number, wire, raw in _parts(data):
        field = known.by_number.get(number) if known else None
        if field is None:
            continue
        if field.name.startswith("+"):
            found |= _message(raw, field.kind)
        elif field.is_map:
            key, value = _entry(raw, field)
            found.setdefault(field.name, {})[key] = value
        elif field.is_list and not field.is_wrapped:
            found.setdefault(field.name, []).append(_value(raw, wire, field.kind))
        else:
            value = _single(raw, wire, field)
            if value is not None and not (field.omits_empty and value in ("", 0, False)):
                found[field.name] = value
    return found


def _entry(raw: bytes, field: Field) -> tuple[str, Any]:
    key, value = "", _single(b"", _BYTES, field)
    for number, wire, part in _parts(raw):
        if number == 1:
            key = bytes(part).decode()
        else:
            value = _single(part, wire, field)
    return key, value


def _single(raw: Any, wire: int, field: Field) -> Any:
    if field.is_wrapped:
        return [_value(part, w, field.kind) for n, w, part in _parts(raw) if n == 1]
    return _value(raw, wire, field.kind)


def _value(raw: Any, wire: int, kind: str) -> Any:
    match kind:
        case "s":
            return bytes(raw).decode()
        case "y":
            return base64.b64encode(raw).decode()
        case "i":
            return raw
        case "b":
            return bool(raw)
        case "f":
            return struct.unpack("<d" if wire == _FIXED64 else "<f", raw)[0]
        case "Time" | "MicroTime":
            return _time(raw, micro=kind == "MicroTime")
        case "Quantity":
            return next((bytes(part).decode() for n, _, part in _parts(raw) if n == 1), "0")
        case "IntOrString":
            parts = {number: part for number, _, part in _parts(raw)}
            return bytes(parts.get(3, b"")).decode() if parts.get(1) else parts.get(2, 0)
        case "RawExtension" | "FieldsV1":
            part = next((part for n, _, part in _parts(raw) if n == 1), b"null")
            return msgspec.json.decode(part)
        case "Duration":
            return f"{next((part for n, _, part in _parts(raw) if n == 1), 0) / 1e9:g}s"
    return _message(raw, kind)


def _time(raw: bytes, *, micro: bool) -> str | None:
    """Return a timestamp, or None for Go's zero time, which is encoded as an empty message."""
    parts = {number: part for number, _, part in _parts(raw)}
    if not parts or parts.get(1, 0) < 0:
        return None
    moment = datetime.fromtimestamp(parts.get(1, 0) + parts.get(2, 0) / 1e9, UTC)
    return micro_timestamp(moment) if micro else timestamp(moment)
