"""Index the bundled collection in six languages and ask it one English question.

``psq`` trains nothing; ``bridge``, the default, trains for some seconds a language.
"""

from isogloss import Index

index = Index.make("demo", ["fr", "it", "es", "sw", "tl", "zh"], system="psq")
for hit in index.search("why do volcanoes erupt", k=6):
    print(f"{hit.score:.3f}  {hit.language}  {hit.document.title}")
