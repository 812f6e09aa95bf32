"""Compare two systems on the bundled collection, English queries and Swahili documents."""

from isogloss import evaluate

found = evaluate(["bm25", "psq"], "demo", "en-sw")
for name, measures in found.measures.items():
    print(name, {measure: round(value, 3) for measure, value in measures.items()})
for comparison in found.compare():
    print(f"{comparison.measure}: {comparison.difference:+.3f}, p = {comparison.randomisation_holm:.4f} (Holm)")
