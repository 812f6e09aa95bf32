"""Add, replace and delete documents of an index, and see why a document was found."""

from isogloss import Document, Index

words = {"honey": "miel", "bees": "abejas", "candle": "vela", "wax": "cera"}
index = Index.make(["Las abejas hacen miel."], "es", lexicon=words)
index.add([Document("velas", "Con la cera se hacen velas.", title="Velas")])
index.add([Document("velas", "Con la cera de las abejas se hace una vela.", title="Velas")])  # in place of the first
for hit in index.search("a candle of wax", explain=True):
    print(hit.title, [f"{part.query_word} → {', '.join(part.document_words)}" for part in hit.explanation])
index.delete(["velas"])
print(len(index), "document left")
