"""The fields of SinkOptions and of Counters. Made from the JVM's tables by `make reference`: change them there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True, repr=False)
class OptionFields:
    """One field an option of the sink; ``None`` leaves it at its default."""

    connect_string: str | None = None
    """A connect string, ws::... or wss::...; may hold every other option as a key."""

    addr: str | Sequence[str] | None = None
    """Servers as host[:port]; port 9000 where none is given. Required, here or in
    connect_string.
    """

    tls: bool | None = None
    """Whether to use TLS; the scheme wss of a connect string says so too. Default: off."""

    tls_verify: Literal["on", "unsafe_off"] | None = None
    """Whether the server's certificate and host name are checked. Default: on."""

    tls_roots: str | os.PathLike[str] | None = None
    """File of trusted certificates, on every executor: PEM, PKCS12 or JKS. Default: those of the
    Java installation.
    """

    tls_roots_password: str | None = None
    """Password of the tls_roots file."""

    username: str | None = None
    """User for basic authentication, with password."""

    password: str | None = None
    """Password for basic authentication, with username."""

    token: str | None = None
    """Bearer token, instead of username and password."""

    table: str | None = None
    """Table that all rows go to. Either this or table_column is required."""

    table_column: str | None = None
    """String column that names each row's table; it is not itself written."""

    timestamp: str | None = None
    """Column of the designated timestamp: Timestamp, TimestampNTZ, Date, or Long with
    timestamp_unit. Required on a stream.
    """

    server_timestamp: bool | None = None
    """The server sets the designated timestamp. A row that is sent twice is then two rows, which
    no keys can tell apart. Default: off.
    """

    timestamp_unit: Literal["s", "ms", "us", "ns"] | None = None
    """Unit of Long columns that become times. Default: us."""

    symbols: str | Sequence[str] | None = None
    """String columns written as SYMBOL instead of VARCHAR."""

    column_types: str | None = None
    """Types by column, as in "dev UUID, ip IPV4, h LONG256, g GEOHASH(6c)". This comes before
    questdb.type in a column's metadata, that before the type in the live table, and that before
    the default.
    """

    nulls_boolean: Literal["error", "zero"] | None = None
    """A null for a BOOLEAN column, which has none: refuse the row, or write false. Default:
    error.
    """

    nulls_byte: Literal["error", "zero"] | None = None
    """A null for a BYTE column, which has none: refuse the row, or write 0. Default: error."""

    nulls_short: Literal["error", "zero"] | None = None
    """A null for a SHORT column, which has none: refuse the row, or write 0. Default: error."""

    nulls_char: Literal["error", "zero"] | None = None
    """A null for a CHAR column, which has none: refuse the row, or write 0. Default: error."""

    sentinel_values: Literal["error", "null"] | None = None
    """The values that QuestDB reads as null (smallest Int and Long, infinities, address 0.0.0.0,
    the CHAR U+0000): refuse the row, or write null. Default: error.
    """

    unsupported: Literal["error", "skip", "json"] | None = None
    """Columns whose type has no counterpart (struct, map, variant, interval, other arrays):
    refuse the query, leave them out, or write JSON text. Default: error.
    """

    ntz_zone: str | None = None
    """Zone of TimestampNTZ wall clocks. A time that the zone skips is refused; of a time that it
    has twice, the earlier instant is taken. Default: UTC.
    """

    decimals_double: str | Sequence[str] | None = None
    """Decimal columns written as DOUBLE, which may lose digits. Only those named here."""

    create_table: bool | None = None
    """Create the table where it is not there, with partition_by, ttl and dedup_keys, before the
    first row is sent. Default: off.
    """

    partition_by: Literal["HOUR", "DAY", "WEEK", "MONTH", "YEAR"] | None = None
    """Partitioning of a created table. Only with create_table or on_missing_table=create.
    Default: DAY.
    """

    ttl: str | None = None
    """TTL of a created table, as in "30 DAYS". Only with create_table or
    on_missing_table=create.
    """

    dedup_keys: str | Sequence[str] | None = None
    """DEDUP UPSERT KEYS of a created table; the designated timestamp is added where it is
    missing. Only with create_table or on_missing_table=create.
    """

    on_missing_table: Literal["fail", "create"] | None = None
    """What to do where the table is not there, also in mid-stream, and where it was dropped
    under rows on the way (the server makes it anew, without keys): fail ends the query; create
    makes it as asked for, or enables dedup_keys where the server was quicker. Default: create
    with create_table=on, else fail.
    """

    require_dedup: bool | None = None
    """Refuse a table without DEDUP UPSERT KEYS. Default: off."""

    update_keys: str | Sequence[str] | None = None
    """Required by outputMode("update"), where it must equal the table's DEDUP UPSERT KEYS.
    Streams only.
    """

    commit_on: Literal["ack", "store", "durable"] | None = None
    """When a task commits. ack: the server acknowledged its rows. store: they are in a slot
    below sf_dir, forced to disk. durable: the server acknowledged them as durable. With sf_dir
    it must be said. Default: ack.
    """

    sf_dir: str | os.PathLike[str] | None = None
    """Directory of the slots, on a local disk of each executor. For commit_on=store, and to send
    what an earlier run left there.
    """

    sf_dir_is_persistent: bool | None = None
    """You vouch that sf_dir outlives the executor. commit_on=store needs it with dynamic
    allocation, on Kubernetes and on YARN. Only with commit_on=store. Default: off.
    """

    sender_id: str | None = None
    """Prefix of the slots' names: letters, digits, _ and -. Default: spark- and the query's id.
    A batch write needs it, except with commit_on=ack and drain_orphans=off. Only with sf_dir.
    """

    target_id: str | None = None
    """Identity of the database. Slots of the same target_id are sent also when the server's
    addresses have changed since. Only with sf_dir.
    """

    sf_durability: Literal["memory", "periodic", "flush"] | None = None
    """When commit_on=store forces rows to disk. flush: at each task commit. periodic: every
    sf_sync_interval_millis. memory: never; rows survive the process, not the host. Only with
    commit_on=store. Default: flush.
    """

    sf_sync_interval_millis: int | None = None
    """Time between two forces with sf_durability=periodic. Only with commit_on=store. Default:
    5000.
    """

    sf_max_total_bytes: int | str | None = None
    """Most bytes that wait for acknowledgement in one executor JVM, all lanes together. Default:
    128m, with commit_on=store 10g.
    """

    sf_max_segment_bytes: int | str | None = None
    """Bytes of one segment. Default: as much as lets two segments for each lane fit half of
    sf_max_total_bytes, at most 4m.
    """

    sf_min_free_bytes: int | str | None = None
    """Free space on the disk below which no segment is made. Only with commit_on=store. Default:
    1g.
    """

    sf_format: Literal["1"] | None = None
    """Format of the slots. Only with commit_on=store. Default: 1."""

    drain_orphans: Literal["off", "own", "all"] | None = None
    """Slots of ended processes that this one sends. off: none. own: those of the same sender_id.
    all: all in sf_dir. Only ever those for the same server. Only with sf_dir. Default: own.
    """

    max_lanes: int | None = None
    """Most connections of one executor. Default: the number of tasks it runs at once."""

    drain_on_stop_millis: int | None = None
    """How long an ending executor goes on sending what waits in its slots; one deadline for all
    lanes. Default: 5000.
    """

    frame_rows: int | None = None
    """Most rows in a frame. Default: 65536."""

    frame_bytes: int | str | None = None
    """Most bytes in a frame; never more than 90 % of what the server takes, nor than 120k until
    it has said what it takes. Default: 1m.
    """

    on_schema_error: Literal["halt", "drop"] | None = None
    """The server refuses a frame because its rows do not fit the table. halt: fail the query
    with the server's words. drop: write the frame to dead_letter_dir and go on. Default: halt.
    """

    on_parse_error: Literal["halt", "drop"] | None = None
    """The server refuses a frame because it cannot be read. halt: fail the query with the
    server's words. drop: write the frame to dead_letter_dir and go on. Default: halt.
    """

    on_security_error: Literal["halt", "drop"] | None = None
    """The server refuses a frame because the user may not write. halt: fail the query with the
    server's words. drop: write the frame to dead_letter_dir and go on. Default: halt.
    """

    on_write_error: Literal["retry", "halt", "drop"] | None = None
    """The server refuses a frame because the table did not take the rows. retry: send it again,
    paced, while it may be taken. halt: fail the query with the server's words. drop: write the
    frame to dead_letter_dir and go on. Default: retry.
    """

    on_internal_error: Literal["retry", "halt", "drop"] | None = None
    """The server refuses a frame because of a fault inside it. retry: send it again, paced,
    while it may be taken. halt: fail the query with the server's words. drop: write the frame to
    dead_letter_dir and go on. Default: retry.
    """

    on_unknown_error: Literal["retry", "halt", "drop"] | None = None
    """The server refuses a frame because of something that no category covers. retry: send it
    again, paced, while it may be taken. halt: fail the query with the server's words. drop:
    write the frame to dead_letter_dir and go on. Default: retry.
    """

    on_server_error: Literal["halt", "drop", "retry"] | None = None
    """What to do in every category whose own option is not set."""

    on_row_error: Literal["fail", "dead_letter"] | None = None
    """A row with a value that its column cannot hold. fail: fail the task. dead_letter: write
    the row to dead_letter_dir and go on. Default: fail.
    """

    dead_letter_dir: str | None = None
    """Directory, any Hadoop path, for what is dropped. Required by drop and dead_letter."""

    max_dead_letter_rows: int | None = None
    """Most rows that one task may write to dead_letter_dir before it fails. Default: 10000."""

    max_frame_rejections: int | None = None
    """How often a frame must be refused, besides poison_min_escalation_window_millis, before the
    lane gives it up as poison. Default: 4.
    """

    poison_min_escalation_window_millis: int | None = None
    """For how long a frame must be refused, besides max_frame_rejections, before the lane gives
    it up as poison. Default: 300000.
    """

    connect_timeout: int | None = None
    """Longest wait for a TCP connection. Default: 5000."""

    auth_timeout_ms: int | None = None
    """Longest wait for TLS and the WebSocket upgrade. Default: 15000."""

    ack_timeout_millis: int | None = None
    """Time without an acknowledgement while rows are unacknowledged, whatever else the server
    says, after which the connection is given up and another begun. Default: 30000.
    """

    reconnect_initial_backoff_millis: int | None = None
    """First pause after all servers failed. Default: 100."""

    reconnect_max_backoff_millis: int | None = None
    """Longest pause after all servers failed. Default: 5000."""

    reconnect_max_duration_millis: int | None = None
    """Longest outage, and longest wait for a refusal to pass, before it is an error; 0: no
    limit. Default: 0 on a stream, 300000 in a batch write.
    """

    durable_ack_keepalive_interval_millis: int | None = None
    """With commit_on=durable, pause between PINGs that ask for durable acknowledgements; 0:
    none. Default: 200.
    """

    error_inbox_capacity: int | None = None
    """Most errors that are kept until they are reported; the oldest go first. Default: 256."""

    max_symbols_per_slot: int | None = None
    """Distinct symbol values after which a lane begins a new connection or slot. Default:
    200000.
    """

    max_name_len: int | None = None
    """Longest table and column name, in bytes of UTF-8. Default: 127."""


@dataclass(frozen=True, kw_only=True)
class MetricFields:
    """One field a counter or gauge of the sink."""

    rows_written: int = 0
    """Rows that tasks handed over, those that Spark sent again included. (rows)"""

    bytes_written: int = 0
    """Bytes of those rows as encoded. (bytes)"""

    frames_written: int = 0
    """Frames put into rings. (frames)"""

    frames_sent: int = 0
    """Frames sent for the first time. (frames)"""

    frames_acked: int = 0
    """Frames that the server acknowledged. (frames)"""

    frames_replayed: int = 0
    """Frames sent again after a reconnect. (frames)"""

    frames_missing: int = 0
    """Frames that slots lacked when they were opened (a power cut, another client): nobody knows
    whether they arrived; an event names them. (frames)
    """

    acks_rejected: int = 0
    """Acknowledgements that did not account for their rows (a table was dropped, renamed or made
    anew); the frames were sent again through a new connection. (acknowledgements)
    """

    reconnect_attempts: int = 0
    """Attempts to connect again, failed ones included: all but a lane's first, and those that
    only begin a symbol dictionary anew. (attempts)
    """

    reconnects_succeeded: int = 0
    """Connections made after one was lost; not those that only begin a symbol dictionary anew.
    (connections)
    """

    server_errors: int = 0
    """Frames that the server refused. (errors)"""

    error_notifications_delivered: int = 0
    """Errors given to handlers on the driver, or to its log where there is no handler.
    (notifications)
    """

    error_notifications_dropped: int = 0
    """Errors that a full queue on the way to a handler lost. (notifications)"""

    backpressure_stalls: int = 0
    """Times that a full ring made a task wait. (stalls)"""

    rows_dropped: int = 0
    """Rows that went to dead_letter_dir instead of the table. (rows)"""

    unacked_frames: int = 0
    """Frames that wait for acknowledgement. (frames)"""

    unacked_bytes: int = 0
    """Bytes of frames that wait for acknowledgement. (bytes)"""

    oldest_unacked_millis: int = 0
    """Age of the oldest frame that waits. (milliseconds)"""

    undelivered_rows: int = 0
    """Rows committed with commit_on=store and not yet acknowledged, as far as tasks have said.
    (rows)
    """

    failed_slots: int = 0
    """Slots that were given up and wait for an operator (.failed). (slots)"""

    stranded_slots: int = 0
    """Slots with rows for another server, or that do not say for which. (slots)"""

    suspended_tables: int = 0
    """Suspended tables: they acknowledge rows but do not show them until ALTER TABLE ... RESUME
    WAL; as of the last look, made while rows flow. (tables)
    """

    drainers_active: int = 0
    """Adopted slots that are being sent. (drainers)"""

    drainers_succeeded: int = 0
    """Adopted slots sent to the end. (drainers)"""

    drainers_failed: int = 0
    """Adopted slots that were given up. (drainers)"""

    ack_latency_p50_millis: int = 0
    """Time within which half of the frames were acknowledged. (milliseconds)"""

    ack_latency_p99_millis: int = 0
    """Time within which 99 of 100 frames were acknowledged. (milliseconds)"""

    ack_latency_max_millis: int = 0
    """Time within which every frame was acknowledged. (milliseconds)"""
