"""A WebSocket server that reads QWP messages and acknowledges them, and does nothing else with them.

For benchmarks of senders: it takes what either client can send, so that the server is not what is measured. It reads
the table of a connection's first message and names it in each acknowledgement, as servers do. It keeps nothing and
checks nothing; tests use the test server. SQL is answered with 404.
"""

from __future__ import annotations

import base64
import hashlib
import json
import select
import socket
import struct
import threading

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MAX_BATCH = 16 * 1024 * 1024
_BINARY, _CLOSE, _PING = 0x2, 0x8, 0x9


def _handshake(connection: socket.socket) -> bool:
    """Whether it was one; anything else is answered with 404."""
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(4096)
    if b"sec-websocket-key" not in request.lower():
        connection.sendall(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        return False
    lines = (line.partition(": ") for line in request.decode("latin-1").split("\r\n")[1:])
    headers = {name.lower(): value for name, _, value in lines}
    accept = base64.b64encode(
        hashlib.sha1(headers["sec-websocket-key"].encode() + _MAGIC).digest()
    ).decode()
    connection.sendall(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accept}\r\nX-QWP-Version: 1\r\nX-QWP-Max-Batch-Size: {_MAX_BATCH}\r\n\r\n".encode()
    )
    return True


def _table_of(message: bytes) -> bytes:
    """The name of a message's first table."""
    at = 12
    if message[5] & 0x08:
        _, at = _varint(message, at)
        count, at = _varint(message, at)
        for _ in range(count):
            length, at = _varint(message, at)
            at += length
    length, at = _varint(message, at)
    return message[at : at + length]


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number that begins there, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


class _Reader:
    """Frames of one connection; payloads go into one buffer, over and over."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = memoryview(bytearray(_MAX_BATCH))
        self.table = b""

    def take(self, count: int) -> memoryview:
        """So many bytes; valid until the next call."""
        target = self._buffer[:count]
        done = 0
        while done < count:
            got = self._connection.recv_into(target[done:], count - done)
            if got == 0:
                raise EOFError
            done += got
        return target

    def frame(self) -> tuple[int, int]:
        """Opcode and length of the next frame, whose payload is read; only that of the first is unmasked."""
        first, second = self.take(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self.take(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self.take(8))
        mask = bytes(self.take(4))
        payload = self.take(size)
        if not self.table and first & 0x0F == _BINARY:
            keys = (mask * (size // 4 + 1))[:size]
            self.table = _table_of(bytes(a ^ b for a, b in zip(payload, keys, strict=True)))
        return first & 0x0F, size

    def idle(self) -> bool:
        """Whether nothing more has arrived yet."""
        return not select.select([self._connection], [], [], 0)[0]


def _serve(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not _handshake(connection):
        connection.close()
        return
    reader = _Reader(connection)
    sequence = acknowledged = -1
    try:
        while True:
            opcode, _ = reader.frame()
            if opcode == _CLOSE:
                connection.sendall(b"\x88\x02\x03\xe8")
                return
            if opcode != _PING:
                sequence += 1
            if sequence > acknowledged and (sequence - acknowledged >= 8 or reader.idle()):
                entry = struct.pack("<H", len(reader.table)) + reader.table
                reply = (
                    struct.pack("<BqH", 0, sequence, 1) + entry + struct.pack("<q", sequence + 1)
                )
                connection.sendall(bytes((0x82, len(reply))) + reply)
                acknowledged = sequence
    except (EOFError, ConnectionError):
        pass
    finally:
        connection.close()


def main() -> None:
    """Serves until it is killed; prints its port as one JSON line."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
