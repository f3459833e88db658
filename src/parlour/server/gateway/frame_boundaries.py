"""Finds where a client's frames end, so that they can be taken a few at a time."""


class FrameEnds:
    """Walks over the frames of one connection, from head to head, without reading their content."""

    __slots__ = ("_head", "_left", "between")

    def __init__(self) -> None:
        self._head = b""
        """The beginning of a frame whose length is not known yet."""
        self._left = 0
        """Bytes of a frame that are still to come."""
        self.between = True
        """True between two frames; stored because it is asked so often."""

    def walk(self, data: bytes, most: int) -> tuple[int, int]:
        r"""How many bytes of *data* belong to the next *most* frames, and how many frames end in them.

        >>> ends, ping = FrameEnds(), b"\x89\x80mask"
        >>> ends.walk(ping * 5, 3), ends.walk(ping[:1], 3), ends.walk(ping[1:] + ping, 3), ends.between
        ((18, 3), (1, 0), (11, 2), True)
        """
        found = self._walk(data, most)
        self.between = not self._left and not self._head
        return found

    def _walk(self, data: bytes, most: int) -> tuple[int, int]:
        before = len(self._head)
        if before:
            data, self._head = self._head + data, b""
        at, end, ended = self._left, len(data), 0
        if at > end:
            self._left = at - end
            return end, 0
        if at:
            self._left, ended = 0, 1
        while at < end and ended < most:
            size = _size(data, at)
            if not size:
                self._head = data[at:]
                return end - before, ended
            at += size
            if at > end:
                self._left = at - end
                return end - before, ended
            ended += 1
        return at - before, ended


def _size(data: bytes, at: int) -> int:
    """The bytes of the frame that begins here; 0 if too few have come to know."""
    if len(data) < at + 2:
        return 0
    second = data[at + 1]
    size, head = second & 0x7F, 2
    if size >= 126:
        head = 4 if size == 126 else 10
        if len(data) < at + head:
            return 0
        size = int.from_bytes(data[at + 2 : at + head], "big")
    return head + (4 if second & 0x80 else 0) + size
