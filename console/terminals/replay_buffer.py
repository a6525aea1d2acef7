"""Buffer for the unacknowledged part of a byte stream."""


class ReplayBuffer:
    """Bytes `first` to `end` of a stream."""

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
        """Discard the bytes before `end`. Return False if the stream is shorter than that."""
        if end > self.end:
            return False
        if end > self.first:
            del self._data[: end - self.first]
            self.first = end
        return True

    def read_from(self, number: int, most: int) -> bytes:
        """Return up to `most` bytes from offset `number`."""
        at = max(0, number - self.first)
        return bytes(self._data[at : at + most])
