"""Indexes of long threads kept in a store, so that a worker that has never seen a thread need not build its index.

::

    build ──the index has grown by a quarter──> body: a blob of the thread       first, under its own digest
                                            ──> record "index": names the body   second, by compare-and-set
    another worker ──record──> made by the same code and settings? of these turns? ──body──> is it whole? ──> index
                               no, at any step: the index is built anew, and the trace says why

Body and record need not be one transaction: a body is never changed, its name is its digest, and a body that no record
names is deleted with the next save.
"""

from __future__ import annotations

import json
import sys
import unicodedata
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from gatekeeper_core.caching import LruCache, estimated_bytes
from gatekeeper_core.context.thread.thread import messages_digest
from gatekeeper_core.errors import ConflictError, CorruptionError, SnapshotError
from gatekeeper_core.messages import TextPart
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.planner import GatekeeperConfig
from gatekeeper_core.selection.records import days_of
from gatekeeper_core.storage.base import is_in_process
from gatekeeper_core.tokens import describe_counter, is_ours
from gatekeeper_core.vectors import MAX_DIMENSIONS

if TYPE_CHECKING:
    from gatekeeper_core.context.thread.thread import Thread
    from gatekeeper_core.encoder import TextEncoder
    from gatekeeper_core.messages import Message, Turn
    from gatekeeper_core.storage.base import Store
    from gatekeeper_core.tokens import TokenCounter

__all__ = ["INDEX_KIND", "MIN_TURNS", "Fetched", "IndexOrigin", "IndexSnapshots", "keeps_snapshots"]

INDEX_KIND = "index"
"""The kind of the derived record; also the scope of the bodies among the blobs of the thread."""

MIN_TURNS = 64
"""Finished turns from which on an index is saved. Source: ours; below it, building takes less than 50 ms."""

_GROWTH = 1.25
"""How much a thread must have grown since its last snapshot. Source: ours; all snapshots together are five times as
large as the last one, and who loads it builds a fifth of the turns at most."""

_REMEMBERED = 1024  # threads; of another one the store is asked

_FRAME_BYTES, _INDEX_SHARE = 100_000, 16
"""What a snapshot may take without a turn, and for each byte of a message. Source: ours; measured are 3 bytes for each
of English, and 12 for Chinese in which no two characters follow one another twice."""

_FORMAT = 1
_TRIES = 2

IndexOrigin = Literal["", "loaded", "none", "unavailable", "schema", "ahead", "changed", "missing", "damaged"]
"""Where an index comes from: ``loaded`` from a snapshot; or built anew, because there is none (``none``), the store was
down or late (``unavailable``), it was made by other code or settings (``schema``), of more turns (``ahead``), of other
turns (``changed``), or its body is gone (``missing``) or not what was saved (``damaged``). "" where this process knew
it, the thread is short, or its store keeps no snapshots."""


class Fetched(NamedTuple):
    """What a store has of a thread's index: why there is nothing of use (or ""), the record, and the snapshot."""

    reason: IndexOrigin
    header: _Header | None = None
    body: bytes = b""


class _Header(NamedTuple):
    """The record of a snapshot: what made it, of how many and which turns, the name of its body, and whose vectors."""

    schema: str
    turns: int
    digest: str
    body: str
    embedder: str = ""  # not written where there are no vectors


class _Seen(NamedTuple):
    """A snapshot that this process saw: of how many turns it is, and the name of a body that was of no use."""

    turns: int
    useless: str = ""


class IndexSnapshots:
    """The snapshots of the indexes of threads; thread-safe. Only :meth:`fetch` and :meth:`save` ask the store.

    Args:
        store: see :func:`keeps_snapshots`.
        config: settings of the selection that the indexes are for; None: the defaults.
        token_counter: counts a text.
        encoder: makes the vectors in the indexes; None: there are none.
    """

    def __init__(
        self,
        store: Store,
        *,
        config: GatekeeperConfig | None,
        token_counter: TokenCounter,
        encoder: TextEncoder | None = None,
    ) -> None:
        self._store = store
        self._encoder = encoder
        self._config = config or GatekeeperConfig()
        self._count = token_counter
        self._seen: LruCache[tuple[str, str], _Seen] = LruCache(max_entries=_REMEMBERED)

    @property
    def schema(self) -> str:
        """A digest of what makes an index: code, Python, settings, and counter."""
        made_with = [_code(), sys.version_info[:3], unicodedata.unidata_version]
        counter = describe_counter(self._count)["counter"]
        return _digest(repr((_FORMAT, *made_with, repr(self._config.gate), counter, is_ours(self._count))).encode())

    def fetch(self, thread: Thread) -> Fetched:
        """Return what the store has of a thread's index; what the store raises passes."""
        header = None
        for _ in range(_TRIES):  # another worker may save between the two readings, and delete the body before
            record = self._store.load_record(thread.tenant, thread.id, INDEX_KIND)
            if record is None:
                return Fetched("none")
            header = _header(record.body)
            if header is None or header.schema != self.schema:
                return Fetched("schema", header)
            if record.upto_seq > thread.last_seq:
                return Fetched("ahead", header)
            try:
                body: object = self._store.blobs_of(thread.tenant, thread.id).get(INDEX_KIND, header.body)
            except KeyError:
                continue
            except CorruptionError:
                body = None
            if not isinstance(body, bytes) or _digest(body) != header.body:
                return Fetched("damaged", header)
            return Fetched("", header, body)
        return Fetched("missing", header)

    def restored(
        self, thread: Thread, fetched: Fetched, turns: Sequence[Turn]
    ) -> tuple[ContextGatekeeper | None, IndexOrigin]:
        """Return the index that was fetched, of the first or all of a thread's finished turns, and where it comes from.

        It is equal to one that is built anew of the same turns; vectors of another embedder are left out, and made
        later. None where it has to be built.
        """
        header, reason = fetched.header, fetched.reason
        if header and not reason:
            first = turns[: header.turns]
            if header.turns > len(turns):
                reason = "ahead"
            elif _turns_digest(first) != header.digest:
                reason = "changed"
            else:
                # The counts of another's counter are counted anew: nothing tells whether it still counts alike.
                recount = not is_ours(self._count)
                try:
                    data = _inflated(fetched.body, first)
                    gatekeeper = ContextGatekeeper.from_bytes(
                        data,
                        first,
                        config=self._config,
                        token_counter=self._count,
                        recount=recount,
                        embedder=self._encoder,
                    )
                except (SnapshotError, zlib.error):
                    reason = "damaged"
                else:
                    self._note(thread, _Seen(header.turns if self._has_vectors(header) else 0))
                    return gatekeeper, "loaded"
        useless = header.body if header and reason in ("damaged", "missing") else ""
        self._note(thread, _Seen(0, useless))
        return None, reason

    def due(self, thread: Thread, turn_count: int) -> bool:
        """Return whether a thread is long enough to be saved, and has grown by a quarter since it was."""
        seen = self._seen.get((thread.tenant, thread.id)) or _Seen(0)
        return turn_count >= MIN_TURNS and turn_count >= _GROWTH * seen.turns

    def save(
        self,
        thread: Thread,
        index: Callable[[], tuple[bytes, Sequence[Turn]] | None],
        *,
        turn_count: int,
        upto_seq: int,
    ) -> None:
        """Save the index of a thread, unless another worker has: it is not tried again before the thread has grown.

        What the store raises passes, but where another worker was faster.

        Args:
            thread: the conversation.
            index: gives a snapshot of the index and the turns that are in it, None where there is none any more.
            turn_count: finished turns of the thread.
            upto_seq: sequence number of the newest message in them.
        """
        seen = self._seen.get((thread.tenant, thread.id)) or _Seen(0)
        self._note(thread, _Seen(turn_count))
        record = self._store.load_record(thread.tenant, thread.id, INDEX_KIND)
        made = index()
        if made is None:
            return
        data, turns = made
        header = _header(record.body) if record and record.upto_seq <= thread.last_seq else None
        if header and header.body != seen.useless and len(turns) < _GROWTH * header.turns:
            first = turns[: header.turns]
            same = header[:3] == (self.schema, len(first), _turns_digest(first))
            if same and self._has_vectors(header):
                return
        body = zlib.compress(data, 1)
        embedder = self._encoder.name if self._encoder else ""
        header = _Header(self.schema, len(turns), _turns_digest(turns), _digest(body), embedder)
        blobs = self._store.blobs_of(thread.tenant, thread.id)
        # Listed before the record is saved: what another worker puts from now on is not ours to delete.
        before = [blob.id for blob in blobs.records(INDEX_KIND)]
        blobs.put(INDEX_KIND, header.body, body)
        said = {name: value for name, value in header._asdict().items() if value != "" or name != "embedder"}
        text, version = json.dumps(said), record.version if record else 0
        try:
            self._store.save_record(
                thread.tenant, thread.id, INDEX_KIND, text, upto_seq=upto_seq, expected_version=version
            )
        except ConflictError:
            return  # theirs is as good
        for blob_id in before:
            if blob_id != header.body:
                blobs.delete(INDEX_KIND, blob_id)

    def _has_vectors(self, header: _Header) -> bool:
        """Return whether a snapshot has the vectors that are wanted here, if any are."""
        return self._encoder is None or header.embedder == self._encoder.name

    def _note(self, thread: Thread, seen: _Seen) -> None:
        self._seen.put((thread.tenant, thread.id), seen)


def keeps_snapshots(store: object) -> Store | None:
    """Return a store that keeps records, and blobs by thread; None for others, and for one that is in this process."""
    methods = ("load_record", "save_record", "blobs_of")
    keeps = all(callable(getattr(store, name, None)) for name in methods)
    return cast("Store", store) if keeps and not is_in_process(store) else None


def _header(body: str) -> _Header | None:
    """Return what a record says, None if it cannot be read."""
    try:
        value: Any = json.loads(body)
        header = _Header(**value)
    except (TypeError, ValueError, RecursionError):
        return None
    texts = (header.schema, header.digest, header.body, header.embedder)
    sound = type(header.turns) is int and header.turns >= 0 and all(isinstance(text, str) for text in texts)
    return header if sound else None


def _inflated(body: bytes, turns: Sequence[Turn]) -> bytes:
    """Return the snapshot of turns that was compressed.

    Raises:
        SnapshotError: it is cut short, or takes more than those turns can with a vector for each.
        zlib.error: it is damaged.
    """
    inflate = zlib.decompressobj()
    data = inflate.decompress(body, _FRAME_BYTES + len(turns) * MAX_DIMENSIONS)
    if not inflate.eof:  # long turns, or nothing of ours
        messages = chain.from_iterable((*turn.preamble, *turn.messages) for turn in turns)
        data += inflate.decompress(inflate.unconsumed_tail, 1 + _INDEX_SHARE * sum(map(estimated_bytes, messages)))
    if not inflate.eof:
        raise SnapshotError("the body of this snapshot was cut short, or is larger than its turns allow")
    return data


def _turns_digest(turns: Sequence[Turn]) -> str:
    """Return a digest of all that decides how turns are indexed and counted: also of how texts are divided in parts."""

    def shape(message: Message) -> int | list[int]:
        if isinstance(message.content, str):
            return 0
        return [len(part.text) if isinstance(part, TextPart) else -1 for part in message.content]

    said = messages_digest(chain.from_iterable(turn.messages for turn in turns))
    shapes = [[shape(message) for message in turn.messages] for turn in turns]
    return _digest(f"{said}{shapes}{list(days_of(turns))}".encode())


def _digest(data: bytes) -> str:
    from hashlib import blake2b  # here, because it is a tenth of the import of the library

    return blake2b(data, digest_size=16).hexdigest()


@lru_cache(maxsize=1)
def _code() -> str:
    """Return a digest of the code that makes an index: nobody has to raise a number with a word list or a rule."""
    from importlib.resources import files

    package = files(__name__.partition(".")[0])
    found = [one for folder in (package, package / "selection") for one in folder.iterdir()]
    code = sorted((one.name, one.read_bytes()) for one in found if one.name.endswith((".py", ".pyc")))
    return _digest(b"".join(b"%b %d %b" % (name.encode(), len(data), data) for name, data in code))
