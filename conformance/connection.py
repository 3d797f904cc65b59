"""A QWP connection, byte by byte: a WebSocket client that sends what it is told to and hides nothing of the answers.

::

    with Connection(server.port) as connection:
        reply = connection.ask(frame)
        assert reply.ok, reply

After a refusal a server takes nothing more on that connection: open another.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import socket
import struct
from dataclasses import dataclass, field
from enum import IntEnum
from types import TracebackType

_ACCEPT_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
_SECONDS = 30.0


class Status(IntEnum):
    """First byte of a reply."""

    OK = 0x00
    SCHEMA_MISMATCH = 0x03
    PARSE_ERROR = 0x05
    INTERNAL_ERROR = 0x06
    SECURITY_ERROR = 0x08
    WRITE_ERROR = 0x09
    DICTIONARY_GAP = 0x0D


class Opcode(IntEnum):
    """Kinds of WebSocket frames."""

    CONTINUATION = 0x0
    TEXT = 0x1
    BINARY = 0x2
    CLOSE = 0x8
    PING = 0x9
    PONG = 0xA


class UpgradeRefused(Exception):
    """The server answered the upgrade with something else than 101."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(f"upgrade refused: {status} {headers} {body!r}")
        self.status = status
        self.headers = headers
        self.body = body


class Disconnected(Exception):
    """The server ended the TCP connection."""


class Closed(Exception):
    """The server sent a CLOSE where a reply was awaited."""

    def __init__(self, payload: bytes) -> None:
        self.code = int.from_bytes(payload[:2], "big") if payload else None
        self.reason = payload[2:].decode(errors="replace")
        super().__init__(f"closed: {self.code} {self.reason}")


@dataclass(frozen=True)
class WebSocketFrame:
    """One frame of the server."""

    opcode: int
    payload: bytes


@dataclass(frozen=True)
class Reply:
    """A QWP reply. ``tables`` are those of an OK, with their transactions; ``text`` is that of a refusal."""

    status: int
    sequence: int
    tables: dict[str, int] = field(default_factory=dict)
    text: str = ""

    @property
    def ok(self) -> bool:
        """Whether frames up to ``sequence`` are acknowledged."""
        return self.status == Status.OK

    @staticmethod
    def decode(raw: bytes) -> Reply:
        """Reads an OK or a refusal; raises where bytes are missing or left."""
        status, sequence, count = struct.unpack_from("<BqH", raw)
        at = 11
        if status != Status.OK:
            end = at + count
            reply = Reply(status, sequence, text=raw[at:end].decode(errors="replace"))
            at = end
        else:
            reply = Reply(status, sequence)
            for _ in range(count):
                (size,) = struct.unpack_from("<H", raw, at)
                name = raw[at + 2 : at + 2 + size].decode()
                (reply.tables[name],) = struct.unpack_from("<q", raw, at + 2 + size)
                at += 2 + size + 8
        if at != len(raw):
            raise ValueError(f"a reply of {len(raw)} bytes that should have {at}: {raw.hex()}")
        return reply


class Connection:
    """An upgraded connection to 127.0.0.1, or :class:`UpgradeRefused`.

    ``headers`` are added to those of the upgrade, or replace the ones of the same name; one that is None is left out.
    ``response`` are the headers that the server answered with, names in lower case.
    """

    def __init__(
        self, port: int, *, path: str = "/write/v4", headers: dict[str, str | None] | None = None
    ) -> None:
        self._received = b""
        self._socket = socket.create_connection(("127.0.0.1", port), _SECONDS)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.response = self._upgrade(port, path, headers or {})
        except BaseException:
            self._socket.close()
            raise

    @property
    def cap(self) -> int:
        """How many bytes a frame may have, as the server said."""
        return int(self.response["x-qwp-max-batch-size"])

    def ask(self, frame: bytes) -> Reply:
        """Sends a frame and waits for the next reply."""
        self.send(frame)
        return self.reply()

    def send(self, *frames: bytes) -> None:
        """Sends QWP frames, all in one write to the socket."""
        self.send_raw(b"".join(web_socket_frame(Opcode.BINARY, frame) for frame in frames))

    def send_raw(self, raw: bytes) -> None:
        """Sends bytes as they are."""
        self._socket.sendall(raw)

    def reply(self, seconds: float = _SECONDS) -> Reply:
        """The next reply; PONGs before it are passed over. Raises :class:`Closed` or :class:`Disconnected`."""
        while True:
            frame = self.receive(seconds)
            if frame.opcode == Opcode.CLOSE:
                raise Closed(frame.payload)
            if frame.opcode == Opcode.BINARY:
                return Reply.decode(frame.payload)

    def receive(self, seconds: float = _SECONDS) -> WebSocketFrame:
        """The next frame of any kind; TimeoutError if none comes, :class:`Disconnected` at the end of the stream."""
        self._socket.settimeout(seconds)
        first, size = self._take(2)
        if size == 126:
            (size,) = struct.unpack(">H", self._take(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self._take(8))
        return WebSocketFrame(first & 0x0F, self._take(size))

    def close(self) -> None:
        """Ends the TCP connection, without a CLOSE."""
        self._socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _upgrade(self, port: int, path: str, changes: dict[str, str | None]) -> dict[str, str]:
        key = base64.b64encode(os.urandom(16))
        headers: dict[str, str | None] = {
            "Host": f"127.0.0.1:{port}",
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key.decode(),
            "X-QWP-Max-Version": "1",
        }
        headers.update(changes)
        lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
        self.send_raw("\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode())
        head = self._head().split("\r\n")
        status = int(head[0].split()[1])
        answered = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            answered[name.strip().lower()] = value.strip()
        if status != 101:
            raise UpgradeRefused(status, answered, self._body(answered))
        accept = base64.b64encode(hashlib.sha1(key + _ACCEPT_SUFFIX).digest()).decode()
        if "Sec-WebSocket-Key" not in changes and answered["sec-websocket-accept"] != accept:
            raise ValueError(
                f"Sec-WebSocket-Accept is {answered['sec-websocket-accept']}, not {accept}"
            )
        return answered

    def _head(self) -> str:
        while b"\r\n\r\n" not in self._received:
            self._fill()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        return head.decode("iso-8859-1")

    def _body(self, headers: dict[str, str]) -> bytes:
        """The body of a refusal: as long as it says, otherwise what is there when the server ends the connection."""
        if "content-length" in headers:
            return self._take(int(headers["content-length"]))
        with contextlib.suppress(Disconnected, TimeoutError):
            self._socket.settimeout(1)
            while not self._received.endswith(b"0\r\n\r\n"):  # the last chunk
                self._fill()
        return self._received

    def _take(self, count: int) -> bytes:
        while len(self._received) < count:
            self._fill()
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _fill(self) -> None:
        try:
            chunk = self._socket.recv(65536)
        except ConnectionError as error:
            raise Disconnected(str(error)) from error
        if not chunk:
            raise Disconnected("end of stream")
        self._received += chunk


def web_socket_frame(opcode: int, payload: bytes = b"", *, first_bits: int = 0x80) -> bytes:
    """A masked client frame. ``first_bits`` are FIN (0x80) and the reserved bits."""
    size = len(payload)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 65536:
        length = struct.pack(">BH", 0x80 | 126, size)
    else:
        length = struct.pack(">BQ", 0x80 | 127, size)
    mask = os.urandom(4)
    pad = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "little") ^ int.from_bytes(pad, "little")
    return bytes([first_bits | opcode]) + length + mask + masked.to_bytes(size, "little")
