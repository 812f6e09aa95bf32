"""Index the bundled collection in six languages and ask it one English question."""

from isogloss import Index

index = Index.make("demo", ["fr", "it", "es", "sw", "tl", "zh"])
for hit in index.search("why do volcanoes erupt", k=6):
    print(f"{hit.score:.3f}  {hit.language}  {hit.document.title}")
