// "Why": which words of the query met which words of the document, how much each gave, and that this is all of the score.

import { askWhy } from "./api.js";
import { el, inLanguage } from "./dom.js";
import { count, listed, scored } from "./languages.js";
import { failureText } from "./messages.js";

const MOST_ROWS = 12; // a query may be a whole document
const MOST_WORDS = 8;
const PATIENCE = 300; // milliseconds of an empty panel

let made = 0;

/** A button and the panel that it opens; its content is fetched when it is first opened. */
export function why(state, hit, other = false) {
  made += 1;
  const panel = el("div", { class: "why", id: `why-${made}`, hidden: true });
  const button = el(
    "button",
    { class: "quiet toggle", type: "button", "aria-expanded": "false", "aria-controls": panel.id },
    "Why this?",
  );
  const name = el("span", { class: "unseen" }, ` ${hit.title}`);
  button.append(name);
  button.addEventListener("click", () => toggle(button, panel, () => askWhy(state, hit, { other }), hit));
  return { button, panel };
}

async function toggle(button, panel, question, hit) {
  const open = panel.hidden;
  panel.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  if (!open || panel.dataset.filled) return;
  panel.dataset.filled = "yes";
  panel.setAttribute("aria-busy", "true");
  const waiting = setTimeout(
    () => panel.replaceChildren(el("p", { class: "fine" }, "Finding out which words made the score …")),
    PATIENCE,
  );
  try {
    const answer = await question();
    clearTimeout(waiting);
    panel.replaceChildren(...explained(answer, hit));
  } catch (failure) {
    clearTimeout(waiting);
    delete panel.dataset.filled; // opening it again asks again
    panel.replaceChildren(el("p", {}, failureText(failure)));
  }
  panel.removeAttribute("aria-busy");
}

function explained(answer, hit) {
  const rows = withRest(answer.parts, hit.score);
  const whose = reranker(answer, hit);
  const absent = answer.translations.filter(
    ({ word, meanings }) => !hit.reranked && meanings.length && !answer.parts.some((part) => part.word === word),
  );
  if (!rows.length)
    return [...whose, el("p", {}, "This system cannot say which words made the score."), ...missing(absent, hit)];
  const made = table(rows, answer, hit);
  const legend = made.querySelector("td small")
    ? [el("p", { class: "fine" }, "In grey: what else the word of the query can mean there.")]
    : [];
  return [...whose, made, ...legend, ...missing(absent, hit)];
}

/** Whose score it is, where it is not that of the system which found the document. */
function reranker({ system }, { reranked }) {
  if (!reranked) return [];
  const name = system ? el("b", {}, system) : "another system";
  return [el("p", { class: "fine" }, "The score is that of ", name, ", which put the first results in their order.")];
}

/** The rows to show: of many the first, the others as one; and what no word explains, so that the sum is the score. */
function withRest(parts, score) {
  const rows = parts.slice(0, MOST_ROWS);
  const folded = parts.slice(MOST_ROWS);
  if (folded.length) rows.push({ note: `${count(folded.length)} more words`, words: [], score: sum(folded) });
  const left = score - sum(rows);
  if (rows.length && Math.abs(left) > 0.0005 * Math.max(1, Math.abs(score)))
    rows.push({ note: "not by single words", words: [], score: left });
  return rows;
}

function table(rows, answer, hit) {
  const largest = Math.max(...rows.map((row) => Math.abs(row.score)), Number.MIN_VALUE);
  const meanings = new Map(answer.translations.map((entry) => [entry.word, entry.meanings]));
  return el(
    "table",
    {},
    el("caption", { class: "unseen" }, `What made the score of ${hit.title}`),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, "Query"),
        el("th", { scope: "col" }, "Document"),
        el("th", { scope: "col", class: "number", colspan: "2" }, "Adds"),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((row) => line(row, largest, meanings.get(row.word) ?? [], hit)),
    ),
    el(
      "tfoot",
      {},
      el("tr", {}, el("th", { scope: "row", colspan: "3" }, "Score"), el("td", { class: "number" }, scored(sum(rows)))),
    ),
  );
}

function line(row, largest, meanings, hit) {
  const bar = el("span", { class: row.score < 0 ? "bar less" : "bar" });
  bar.style.setProperty("--share", `${(100 * Math.abs(row.score)) / largest}%`);
  const words = different(row.words);
  const others = different([...words, ...meanings]).slice(words.length);
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, row.note ? el("i", {}, row.note) : el("bdi", {}, row.word)),
    el(
      "td",
      {},
      el(
        "span",
        inLanguage(hit.language),
        words.slice(0, MOST_WORDS).flatMap((word, place) => [place ? ", " : null, el("b", {}, word)]),
      ),
      words.length > MOST_WORDS ? ` and ${count(words.length - MOST_WORDS)} more` : null,
      others.length
        ? el(
            "small",
            {},
            el("span", { class: "unseen" }, "also: "),
            el("span", inLanguage(hit.language), others.slice(0, MOST_WORDS).join(", ")),
          )
        : null,
    ),
    el("td", { class: "track", "aria-hidden": "true" }, bar),
    el("td", { class: "number" }, scored(row.score)),
  );
}

function missing(absent, hit) {
  if (!absent.length) return [];
  return [
    el(
      "p",
      { class: "absent" },
      "Not in this document: ",
      absent
        .slice(0, MOST_ROWS)
        .flatMap(({ word, meanings }, place) => [
          place ? "; " : null,
          el("bdi", {}, word),
          " → ",
          el("bdi", { lang: inLanguage(hit.language).lang }, listed(meanings, 4)),
        ]),
    ),
  ];
}

/** Words that differ by more than capitals, each as it is written first. */
function different(words) {
  const seen = new Map();
  for (const word of words) {
    const key = word.toLocaleLowerCase();
    if (!seen.has(key)) seen.set(key, word);
  }
  return [...seen.values()];
}

function sum(parts) {
  return parts.reduce((total, part) => total + part.score, 0);
}
