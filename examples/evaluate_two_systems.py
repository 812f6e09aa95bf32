"""Compare two systems on the bundled collection, English queries and Swahili documents."""

from isogloss.corpus import load_dataset, open_source
from isogloss.evaluation.protocols import make_task
from isogloss.evaluation.report import compare_results, evaluate_system
from isogloss.systems import make_system

source = open_source("demo")
task = make_task(load_dataset(source, ("en", "sw")), split="dev", protocol="full")
results = {
    name: evaluate_system(make_system(name, ("en", "sw"), source=source), task, ("text",)) for name in ("bm25", "psq")
}
for name, result in results.items():
    print(name, {measure: round(value, 3) for measure, value in result.means().items()})
for comparison in compare_results(results):
    print(f"{comparison.measure}: {comparison.difference:+.3f}, p = {comparison.randomisation_holm:.4f} (Holm)")
