"""The small lexicon that comes with isogloss, for those who have none."""

import pytest

from isogloss.data.documents import Collection, Document
from isogloss.storage.errors import InputError
from isogloss.systems.registry import make_system


@pytest.mark.parametrize("name", ["psq", "bm25-dict"])
def test_the_bundled_lexicon_translates_some_words(name):
    system = make_system(name, ("en", "es"), {"lexicon": "bundled"})
    documents = [Document("a", "La miel es dulce."), Document("b", "El volcán duerme.")]
    system.index(Collection(documents, "es"), ("text",))
    assert system.search("honey", k=2).rows.tolist() == [0]
    assert system.unknown_words("honey printer") == ["printer"]


def test_a_pair_that_has_none_is_told_which_have():
    with pytest.raises(
        InputError, match="none is bundled for en-de; there are en-fr, en-it, en-es, en-sw, en-tl, en-zh"
    ):
        make_system("psq", ("en", "de"), {"lexicon": "bundled"})
