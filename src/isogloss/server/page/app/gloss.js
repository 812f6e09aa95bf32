// Glosses: a title or a passage word for word in the language of the reader, or translated where a translator is at hand.

import { addressOf } from "./address.js";
import { el, inLanguage } from "./dom.js";
import { nameOf } from "./languages.js";
import { inOneLine } from "./marks.js";
import { describeWord } from "./tip.js";

const LABELS = { both: "Original and gloss", gloss: "Gloss only", original: "Original only" };

/** The title of a hit as the reader wants it, and below it its gloss where both are wanted. */
export function titleOf(hit, mode) {
  const gloss = glossOf(hit, "title");
  const text = gloss && plain(gloss);
  const inside = inLanguage(hit.language);
  if (!text || mode === "original" || alike(text, hit.title)) return { text: hit.title, inside, below: null };
  if (mode === "gloss") return { text, inside: inLanguage(hit.gloss.language), below: null };
  return { text: hit.title, inside, below: line(hit, gloss, "gloss of-title") };
}

/** The passages of a hit to show: what the document says (`original`, parts made by the caller), its gloss, or both. */
export function passagesOf(hit, mode, original) {
  const gloss = mode === "original" ? null : glossOf(hit, "snippet");
  if (!gloss || !plain(gloss)) return [original];
  const shown = line(hit, gloss, "gloss");
  return mode === "gloss" ? [shown] : [original, shown];
}

/** The page in the language of the reader that says the same. */
export function twin(state, hit) {
  if (!hit.twin) return null;
  const { language, id, title } = hit.twin;
  const document = { language, id, other: false };
  return el(
    "p",
    { class: "twin-page" },
    `In ${nameOf(language)}: `,
    el("a", { href: addressOf({ ...state, document }), "data-inner": true, ...inLanguage(language) }, title || id),
  );
}

/** The choice between original and gloss; nothing where no hit has a gloss to choose. */
export function glossChoice(state, hits) {
  if (state.gloss !== "original" && !hits.some((hit) => hit.gloss)) return null;
  return modes(["both", "gloss", "original"], state.gloss, (gloss) => ({ ...state, gloss }));
}

/** The same for a whole document, which has a gloss only where the reader asks for it. */
export function documentChoice(state) {
  const { document } = state;
  const stateOf = (mode) => ({ ...state, document: { ...document, glossed: mode === "both" } });
  return modes(["original", "both"], document.glossed ? "both" : "original", stateOf);
}

function modes(all, current, stateOf) {
  return el(
    "nav",
    { class: "modes", "aria-label": "Original or gloss", "aria-keyshortcuts": "g" },
    all.map((mode) =>
      el(
        "a",
        {
          id: `gloss-${mode}`,
          href: addressOf(stateOf(mode)),
          "data-inner": true,
          "data-stays": true,
          "aria-current": mode === current ? "true" : null,
        },
        LABELS[mode],
      ),
    ),
  );
}

/** A function from a span (`begin`, `end`) of the text of a document to the line that glosses it, if there is one. */
export function lineMaker(document) {
  let length = 0;
  const all = (document.gloss?.text ?? []).map((piece) => ({ ...piece, begin: length, end: (length += piece.text.length) }));
  return ({ begin, end }) => {
    const pieces = all
      .filter((piece) => piece.begin < end && piece.end > begin)
      .map((piece) => ({ ...piece, text: piece.text.slice(Math.max(0, begin - piece.begin), end - piece.begin) }));
    return pieces.some((piece) => shown(piece).trim()) ? line(document, { pieces }, "gloss") : null;
  };
}

/** Make the words of a card or text one stop of the Tab key; the arrows go from word to word. */
export function oneStop(card) {
  card.querySelector(".word")?.setAttribute("tabindex", "0");
  return card;
}

/** What is shown of a part of a hit: a translation `by` a translator, or pieces; null where there is no gloss. */
function glossOf({ gloss }, part) {
  if (!gloss) return null;
  const { translation } = gloss;
  return translation ? { text: translation[part] ?? "", by: translation.by } : { pieces: gloss[part] ?? [] };
}

function plain({ text, pieces }) {
  return (text ?? pieces.map(shown).join("")).replace(/\s+/g, " ").trim();
}

/** A line of a gloss. */
function line(hit, { text, by, pieces }, kind) {
  const inside = inLanguage(hit.gloss.language);
  if (text !== undefined)
    return el("p", { class: kind }, tag(`translated by ${by}`), " ", el("span", inside, text));
  const words = el("span", { class: "words", ...inside }, pieces.map((piece) => word(hit, piece)));
  return el("p", { class: kind }, tag("word for word"), " ", words);
}

function tag(text) {
  return el("span", { class: "tag" }, text, el("span", { class: "unseen" }, ":"));
}

function word(hit, piece) {
  const text = shown(piece);
  if (!text) return null;
  const meanings = piece.meanings ?? [];
  if (!meanings.length && !piece.unknown && !piece.met) return inOneLine(text);
  const made = el(
    piece.match ? "mark" : "span",
    {
      class: piece.unknown ? "word unknown" : "word",
      tabindex: "-1",
      ...(piece.gloss === null || piece.gloss === undefined ? inLanguage(hit.language) : {}),
    },
    text,
  );
  describeWord(made, { ...piece, meanings, language: hit.language });
  return made;
}

function shown({ gloss, text }) {
  return gloss ?? text;
}

function alike(one, two) {
  return one.toLocaleLowerCase() === two.toLocaleLowerCase();
}
