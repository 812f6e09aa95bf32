// A result: language, class and score; title; passage with what matched marked; why.

import { addressOf } from "./address.js";
import { el, inLanguage, safeAddress } from "./dom.js";
import { nameOf, scored } from "./languages.js";
import { markedParts } from "./marks.js";
import { why } from "./why.js";

const STEPS = { "not relevant": 1, "partially relevant": 2, relevant: 3 };

/** What a document is called in lists of both systems, and by which focus finds it again. */
export function keyOf({ language, id }) {
  return `${language}/${id}`;
}

/** The card of a hit; `other`: of the index that is compared with; `extra` goes under the passage. */
export function card(state, hit, { other = false, extra = null } = {}) {
  const { button, panel } = why(state, hit, other);
  const original = safeAddress(hit.url);
  return el(
    "article",
    { class: "card", "data-key": keyOf(hit) },
    el(
      "p",
      { class: "meta" },
      el("span", { class: "rank", "aria-hidden": "true" }, String(hit.rank)),
      el("span", { class: "language" }, nameOf(hit.language)),
      relevance(hit.relevance),
      el("span", { class: "score" }, el("span", { class: "unseen" }, "score "), scored(hit.score)),
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
          ...inLanguage(hit.language),
        },
        hit.title,
      ),
    ),
    hit.snippet.length ? el("p", { class: "passage", ...inLanguage(hit.language) }, markedParts(hit.snippet)) : null,
    el(
      "div",
      { class: "actions" },
      button,
      original
        ? el(
            "a",
            { class: "quiet", href: original, rel: "noopener noreferrer", target: "_blank" },
            host(original),
            el("span", { class: "unseen" }, " (the original, in a new tab)"),
          )
        : null,
      extra,
    ),
    panel,
  );
}

/** The class of a result as three steps and a word; nothing where the system's scores mean nothing by themselves. */
function relevance(name) {
  if (!name) return null;
  const steps = STEPS[name] ?? 0;
  return el(
    "span",
    { class: "relevance", "data-steps": steps },
    el("span", { class: "steps", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
    name,
  );
}

function host(address) {
  return new URL(address).host;
}
