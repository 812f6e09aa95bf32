// A whole document, with the words marked that the query met.

import { addressOf } from "./address.js";
import { askDocument, askWhy } from "./api.js";
import { el, inLanguage, safeAddress } from "./dom.js";
import { nameOf } from "./languages.js";
import { markedWords } from "./marks.js";

const MOST_MARKED = 10; // words of the query, those that counted most
const MOST_FIELDS = 12;
const LONGEST_VALUE = 200;

/** The view of a state that names a document. */
export async function documentView(state, status, { signal }) {
  const [document, met] = await Promise.all([
    askDocument(state.document, { signal, other: state.document.other }),
    wordsMet(state, signal),
  ]);
  const inside = inLanguage(document.language);
  const original = safeAddress(document.url);
  return {
    title: document.title,
    summary: "",
    focus: "h2",
    content: [
      el(
        "nav",
        { class: "way-back", "aria-label": "Back" },
        el(
          "a",
          { class: "quiet", href: addressOf({ ...state, document: null }), "data-inner": true },
          state.query ? "← Results" : "← Search",
        ),
      ),
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
        original
          ? el(
              "p",
              { class: "original" },
              el("a", { href: original, rel: "noopener noreferrer", target: "_blank" }, "Open the original"),
              ` at ${new URL(original).host}`,
            )
          : null,
        el(
          "div",
          { class: "text" },
          paragraphs(document.text).map((text) => el("p", inside, markedWords(text, met))),
        ),
        fields(state, document.fields),
      ),
    ],
  };
}

/** The words of the document that made its score; none if that cannot be told: the document is shown all the same. */
async function wordsMet(state, signal) {
  if (!state.query) return [];
  try {
    const { parts } = await askWhy(state, state.document, { signal, other: state.document.other });
    return parts
      .filter((part) => part.score > 0)
      .slice(0, MOST_MARKED)
      .flatMap((part) => part.words);
  } catch {
    return [];
  }
}

/** Paragraphs stand between empty lines; a text without any is one. */
function paragraphs(text) {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter(Boolean);
}

/** The same page in other languages of the index. */
function versions(state, document, status) {
  const others = Object.entries(document.translations).filter(([language]) => language in (status?.languages ?? {}));
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
