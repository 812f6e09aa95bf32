// A whole document: its headings and code, the words marked that the query met, scrolled to the best passage.

import { addressOf } from "./address.js";
import { askDocument, askWhy } from "./api.js";
import { blocksOf } from "./blocks.js";
import { el, inLanguage, safeAddress } from "./dom.js";
import { documentChoice, lineMaker, oneStop, titleOf } from "./gloss.js";
import { nameOf } from "./languages.js";
import { marker } from "./marks.js";
import { source } from "./source.js";

const MOST_MARKED = 10; // words of the query, those that counted most
const MOST_FIELDS = 12;
const LONGEST_VALUE = 200;

/** The view of a state that names a document. */
export async function documentView(state, status, { signal }) {
  const [document, met] = await Promise.all([
    askDocument(state, { signal }),
    whatMet(state, status, signal),
  ]);
  const inside = inLanguage(document.language);
  const from = source(document);
  const text = oneStop(el("div", { class: "text" }, elementsOf(document.text, met, inside, lineMaker(document))));
  const passage = text.querySelector(".here:has(mark)") ?? text.querySelector(".here");
  return {
    title: document.title,
    summary: "",
    focus: "h2",
    scroll: passage,
    content: [
      el(
        "nav",
        { class: "way-back", "aria-label": "Back" },
        el(
          "a",
          { class: "quiet", href: addressOf({ ...state, document: null }), "data-inner": true },
          state.query ? "← Results" : "← Search",
        ),
        passage ? el("button", { class: "quiet", type: "button", on: { click: () => goTo(passage) } }, "To the passage") : null,
      ),
      canBeGlossed(document, status) ? documentChoice(state) : null,
      document.glossNote ? el("p", { class: "remark" }, document.glossNote) : null,
      el(
        "article",
        { class: "document" },
        el(
          "p",
          { class: "meta" },
          el("span", { class: "language" }, nameOf(document.language)),
          versions(state, document, status),
        ),
        el("h2", { tabindex: "-1", ...inside }, document.title),
        titleOf(document, "both").below,
        from ? el("p", { class: "original" }, safeAddress(document.url) ? "Original: " : "File: ", from) : null,
        text,
        fields(state, document.fields),
      ),
    ],
  };
}

/** Whether a document is in a language that readers of this index may not know. */
function canBeGlossed({ language }, status) {
  return language in (status?.languages ?? {}) && status.asked.some((asked) => asked !== language);
}

/**
 * The words of the document that made its score, and where its best passage is; neither if that cannot be told: the
 * document is shown all the same.
 */
async function whatMet(state, status, signal) {
  if (!state.query) return { words: [], passage: null };
  if (state.document.language in (status?.sources ?? {})) // it is kept to be read, and is not searched
    return { words: state.query.split(/[^\p{L}\p{M}\p{N}]+/u), passage: null };
  try {
    const { parts, passage } = await askWhy(state, state.document, { signal, other: state.document.other });
    const words = parts
      .filter((part) => part.score > 0)
      .slice(0, MOST_MARKED)
      .flatMap((part) => part.words);
    return { words, passage };
  } catch {
    return { words: [], passage: null };
  }
}

function goTo(passage) {
  passage.scrollIntoView({ block: "center" });
  passage.focus({ preventScroll: true });
}

/**
 * The elements of a text: headings, code, lists, tables and paragraphs, words marked and the passage set apart; below
 * each its gloss, where there is one.
 */
function elementsOf(text, { words, passage }, inside, gloss) {
  const marked = marker(text, words, passage);
  const made = [];
  let level = 2; // of the title
  for (const block of blocksOf(text)) {
    if (block.kind === "heading") {
      level = Math.max(3, Math.min(block.level + 1, level + 1, 6)); // no level is left out
      made.push(el(`h${level}`, inside, marked(block)), gloss(block));
    } else if (block.kind === "code") {
      made.push(el("pre", { tabindex: "0", dir: "ltr" }, el("code", {}, marked(block))));
    } else if (block.kind === "item") {
      within(made, block.ordered ? "ol" : "ul", inside).append(el("li", {}, marked(block), gloss(block)));
    } else if (block.kind === "row") {
      const cells = block.cells.map((cell) => el("td", {}, marked(cell), gloss(cell)));
      within(made, "table", inside).append(el("tr", {}, cells));
    } else {
      made.push(el("p", inside, marked(block)), gloss(block));
    }
  }
  return made;
}

/** The last element, if it is one of these; otherwise a new one after it. */
function within(made, tag, attributes) {
  if (made.at(-1)?.localName !== tag) made.push(el(tag, attributes));
  return made.at(-1);
}

/** The same page in other languages of the index. */
function versions(state, document, status) {
  const known = { ...status?.languages, ...status?.sources };
  const others = Object.entries(document.translations).filter(([language]) => language in known);
  if (!others.length) return null;
  return el(
    "span",
    { class: "versions" },
    "Also in ",
    others.flatMap(([language, id], place) => [
      place ? ", " : null,
      el(
        "a",
        {
          href: addressOf({ ...state, document: { ...state.document, language, id } }),
          "data-inner": true,
          hreflang: inLanguage(language).lang,
        },
        nameOf(language),
      ),
    ]),
  );
}

/** Short values of the document's fields, each a way to search only the documents that share it. */
function fields(state, all) {
  const shown = Object.entries(all).filter(
    ([, value]) => ["string", "number", "boolean"].includes(typeof value) && String(value).length <= LONGEST_VALUE,
  );
  if (!shown.length) return null;
  return el(
    "dl",
    { class: "fields" },
    shown.slice(0, MOST_FIELDS).flatMap(([name, value]) => [
      el("dt", { dir: "auto" }, name),
      el(
        "dd",
        {},
        typeof value === "string"
          ? el(
              "a",
              {
                dir: "auto",
                href: addressOf({ ...state, document: null, offset: 0, filters: [`${name}:${value}`] }),
                "data-inner": true,
                title: "Search only documents with this value",
              },
              value,
            )
          : String(value),
      ),
    ]),
  );
}
