"""What every ``RecordStore`` must do, as a class of tests: a store's own test file inherits it and gives ``make_store``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from gatekeeper_core.errors import ConfigError, ConflictError
from gatekeeper_core.storage.base import DerivedRecord

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import RecordStore


class RecordStoreContract:
    def make_store(self) -> RecordStore:
        raise NotImplementedError

    @pytest.mark.parametrize("body", ["{}", '{"部署": ["Redis", "6380"]}', '{"a": "\\u0000"}'])
    def test_a_record_comes_back_as_it_went_in_with_its_version(self, body: str) -> None:
        store = self.make_store()
        assert store.save_record("default", "t1", "summary", body, upto_seq=9, expected_version=0) == 1
        assert store.load_record("default", "t1", "summary") == DerivedRecord(body, 9, 1)
        assert store.save_record("default", "t1", "summary", "{}", upto_seq=-1, expected_version=1) == 2
        assert store.load_record("default", "t1", "summary") == DerivedRecord("{}", -1, 2)

    @pytest.mark.parametrize(
        "key", [("other", "t1", "summary"), ("default", "t2", "summary"), ("default", "t1", "task")]
    )
    def test_tenants_threads_and_kinds_are_kept_apart(self, key: tuple[str, str, str]) -> None:
        store = self.make_store()
        store.save_record("default", "t1", "summary", '"mine"', upto_seq=0, expected_version=0)
        assert store.load_record(*key) is None
        store.save_record(*key, '"theirs"', upto_seq=0, expected_version=0)
        assert store.load_record("default", "t1", "summary") == DerivedRecord('"mine"', 0, 1)

    @pytest.mark.parametrize("expected_version", [0, 2])
    def test_a_save_from_another_version_is_refused_and_changes_nothing(self, expected_version: int) -> None:
        store = self.make_store()
        store.save_record("default", "t1", "task", '"first"', upto_seq=3, expected_version=0)
        with pytest.raises(ConflictError) as caught:
            store.save_record("default", "t1", "task", '"late"', upto_seq=4, expected_version=expected_version)
        assert (caught.value.expected_version, caught.value.stored_version) == (expected_version, 1)
        assert store.load_record("default", "t1", "task") == DerivedRecord('"first"', 3, 1)

    def test_of_many_writers_at_once_one_wins_each_version(self) -> None:
        store = self.make_store()

        def save(writer: int) -> bool:
            try:
                store.save_record("default", "t1", "task", f'"{writer}"', upto_seq=writer, expected_version=0)
            except ConflictError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(save, range(64))) == 1
        record = store.load_record("default", "t1", "task")
        assert record.body == f'"{record.upto_seq}"'

    def test_a_body_that_is_no_text_and_a_number_that_is_too_large_are_refused(self) -> None:
        store = self.make_store()
        with pytest.raises(ConfigError, match="too large to be stored"):
            store.save_record("default", "t1", "summary", "{}", upto_seq=2**70, expected_version=0)
        with pytest.raises(TypeError, match="body must be a str"):
            store.save_record("default", "t1", "task", b"{}", upto_seq=0, expected_version=0)  # type: ignore[arg-type]
        assert store.load_record("default", "t1", "summary") is None
