"""What was translated once is kept, whatever happens to the run."""

import pytest

from isogloss.translation.translators import TranslationCache, cache_directory


def test_translations_are_there_the_next_time(tmp_path):
    path = tmp_path / "new" / "cache.jsonl"
    first = TranslationCache(path)
    assert first.get("sea") is None
    first.add({"sea": "mer", "a\tb\n": "caf\u00e9 \u2028 \ud83d"})
    first.add({})
    first.add({"salt": "sel"})
    again = TranslationCache(path)
    assert [again.get(text) for text in ("sea", "a\tb\n", "salt", "mer")] == ["mer", "café \u2028 \ud83d", "sel", None]


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_line_that_a_killed_run_left_half_written_costs_that_line_only(tmp_path, cut):
    path = tmp_path / "cache.jsonl"
    TranslationCache(path).add({"sea": "mer", "salt": "sel", "bee": "abeille"})
    path.write_bytes(path.read_bytes()[:-cut])
    after = TranslationCache(path)
    assert after.get("salt") == "sel"
    after.add({"bee": "abeille", "bread": "pain"})
    last = TranslationCache(path)
    assert [last.get(text) for text in ("sea", "salt", "bee", "bread")] == ["mer", "sel", "abeille", "pain"]


def test_runs_side_by_side_lose_nothing(tmp_path):
    one, other = (TranslationCache(tmp_path / "cache.jsonl") for _ in range(2))
    for i in range(5):
        one.add({f"one {i}": "un"})
        other.add({f"other {i}": "autre"})
    kept = TranslationCache(tmp_path / "cache.jsonl")
    assert all(kept.get(f"one {i}") == "un" and kept.get(f"other {i}") == "autre" for i in range(5))


def test_lines_of_something_else_are_passed_over(tmp_path):
    path = tmp_path / "cache.jsonl"
    path.write_bytes(b'\xff\xfe\n{"sea": "mer"}\n["sea"]\n["sea", 1]\n["salt", "sel"]\n')
    cache = TranslationCache(path)
    assert cache.get("sea") is None
    assert cache.get("salt") == "sel"


def test_where_nothing_can_be_written_translations_are_kept_in_memory(tmp_path):
    (tmp_path / "file").write_text("")
    cache = TranslationCache(tmp_path / "file" / "cache.jsonl")
    cache.add({"sea": "mer"})
    assert cache.get("sea") == "mer"


def test_the_place_follows_the_users_wishes(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "isogloss" / "translations"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/somewhere")
    assert str(cache_directory()) == "/somewhere/.cache/isogloss/translations"
