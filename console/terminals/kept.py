"""What of an endless text somebody has not confirmed yet."""


class Kept:
    """Bytes from number `first` on, up to `end`."""

    def __init__(self) -> None:
        self.first = 0
        self._data = bytearray()

    def __len__(self) -> int:
        return len(self._data)

    @property
    def end(self) -> int:
        return self.first + len(self._data)

    def add(self, data: bytes) -> None:
        self._data += data

    def confirm(self, end: int) -> bool:
        """Everything before that number is not needed any more. False for what never was there."""
        if end > self.end:
            return False
        if end > self.first:
            del self._data[: end - self.first]
            self.first = end
        return True

    def since(self, number: int, most: int) -> bytes:
        """From there on."""
        at = max(0, number - self.first)
        return bytes(self._data[at : at + most])
