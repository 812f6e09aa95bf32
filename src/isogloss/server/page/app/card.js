// A result: language and chance; title; where it comes from; passage with what matched marked, or its gloss; why.

import { addressOf } from "./address.js";
import { el, inLanguage } from "./dom.js";
import { oneStop, passagesOf, titleOf, twin } from "./gloss.js";
import { nameOf, percent } from "./languages.js";
import { markedParts } from "./marks.js";
import { source } from "./source.js";
import { why } from "./why.js";

/** What a document is called in lists of both systems, and by which focus finds it again. */
export function keyOf({ language, id }) {
  return `${language}/${id}`;
}

/** The card of a hit; `other`: of the index that is compared with; `extra` goes under the passage. */
export function card(state, hit, { other = false, extra = null } = {}) {
  const { button, panel } = why(state, hit, other);
  const title = titleOf(hit, state.gloss);
  const original = hit.snippet.length
    ? el("p", { class: "passage", ...inLanguage(hit.language) }, markedParts(hit.snippet))
    : null;
  const made = el(
    "article",
    { class: "card", "data-key": keyOf(hit) },
    el(
      "p",
      { class: "meta" },
      el("span", { class: "rank", "aria-hidden": "true" }, String(hit.rank)),
      el("span", { class: "language" }, nameOf(hit.language)),
      relevance(hit),
      source(hit),
    ),
    el(
      "h3",
      {},
      el(
        "a",
        {
          class: "title",
          href: addressOf({ ...state, document: { language: hit.language, id: hit.id, other } }),
          "data-inner": true,
          ...title.inside,
        },
        title.text,
      ),
    ),
    title.below,
    passagesOf(hit, state.gloss, original),
    twin(state, hit),
    el("div", { class: "actions" }, button, extra),
    panel,
  );
  return oneStop(made);
}

/** The chance of a result as a bar, a class and a number; only the bar where the system's scores mean nothing alone. */
function relevance({ bar, chance, relevance: name }) {
  if (bar === null && !name) return null;
  const likely = chance === null ? "" : percent(chance);
  const track = el("span", { class: "meter", "aria-hidden": "true" }, el("i"));
  track.style.setProperty("--share", `${Math.round(100 * Math.min(1, bar ?? 0))}%`);
  const unnamed = name || likely ? null : el("span", { class: "unseen" }, `strength ${percent(bar ?? 0)} of the best`);
  return el(
    "span",
    { class: "relevance", "data-class": name, title: likely && `Estimated chance that this is relevant: ${likely}` },
    track,
    name,
    likely ? el("span", { class: "chance" }, el("span", { class: "unseen" }, ", chance "), likely) : null,
    unnamed,
  );
}
