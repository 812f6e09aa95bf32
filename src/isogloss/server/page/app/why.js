// "Why": which words of the query met which words of the document and how much each gave, as bars; the numbers, which
// sum to the score, are folded away.

import { askWhy } from "./api.js";
import { el, inLanguage } from "./dom.js";
import { count, listed, percent, scored } from "./languages.js";
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
  const whose = reranker(answer, hit);
  const absent = answer.translations.filter(
    ({ word, meanings }) => !hit.reranked && meanings.length && !answer.parts.some((part) => part.word === word),
  );
  if (!answer.parts.length)
    return [...whose, el("p", {}, "This system cannot say which words made the score."), ...missing(absent, hit)];
  const told = answer.parts.filter((part) => part.words.length && part.score > 0);
  const pairs = told.length ? pairsOf(told, hit) : el("p", {}, "No single word stands out.");
  return [...whose, pairs, ...others(answer.parts), ...missing(absent, hit), numbers(answer.parts, hit)];
}

/** Whose score it is, where it is not that of the system which found the document. */
function reranker({ system }, { reranked }) {
  if (!reranked) return [];
  const name = system ? el("b", {}, system) : "another system";
  return [el("p", { class: "fine" }, "The score is that of ", name, ", which put the first results in their order.")];
}

/** Words of the query and of the document that met, with bars that compare them. */
function pairsOf(told, hit) {
  const rows = told.slice(0, MOST_ROWS);
  const largest = Math.max(...rows.map((row) => row.score));
  const all = sum(told);
  return el(
    "table",
    { class: "pairs" },
    el("caption", { class: "unseen" }, `Which words found ${hit.title}`),
    el(
      "thead",
      { class: "unseen" },
      el("tr", {}, el("th", { scope: "col" }, "Query"), el("th", { scope: "col" }, "Document"), el("th", { scope: "col" }, "Share")),
    ),
    el(
      "tbody",
      {},
      rows.map((row) => pair(row, row.score / largest, row.score / all, hit)),
    ),
  );
}

function pair(row, length, share, hit) {
  const bar = el("span", { class: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", `${100 * length}%`);
  const words = different(row.words);
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("bdi", {}, row.word)),
    el(
      "td",
      {},
      el(
        "span",
        inLanguage(hit.language),
        words.slice(0, MOST_WORDS).flatMap((word, place) => [place ? ", " : null, el("b", {}, word)]),
      ),
      words.length > MOST_WORDS ? ` and ${count(words.length - MOST_WORDS)} more` : null,
    ),
    el("td", { class: "track" }, bar, el("span", { class: "unseen" }, percent(share))),
  );
}

/** What counted besides the pairs that are shown, in words. */
function others(parts) {
  const names = parts.filter((part) => !part.words.length).map((part) => part.word.replace(/^\((.*)\)$/, "$1"));
  const more = parts.filter((part) => part.words.length && part.score > 0).length - MOST_ROWS;
  const against = parts.filter((part) => part.words.length && part.score <= 0).length;
  if (more > 0) names.unshift(`${count(more)} more words`);
  if (against) names.push(`${count(against)} ${against === 1 ? "word" : "words"} that fit badly`);
  return names.length ? [el("p", { class: "fine" }, `Also counted: ${listed([...new Set(names)], 8)}.`)] : [];
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

/** All parts of the score, and their sum, for those who want to compute with them. */
function numbers(parts, hit) {
  const rows = withRest(parts, hit.score);
  const line = ({ word, words, score }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("bdi", {}, word)),
      el("td", {}, el("span", inLanguage(hit.language), different(words).join(", "))),
      el("td", { class: "number" }, scored(score)),
    );
  return el(
    "details",
    { class: "numbers" },
    el("summary", {}, "In numbers"),
    el(
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
          el("th", { scope: "col", class: "number" }, "Adds"),
        ),
      ),
      el("tbody", {}, rows.map(line)),
      el(
        "tfoot",
        {},
        el("tr", {}, el("th", { scope: "row", colspan: "2" }, "Score"), el("td", { class: "number" }, scored(sum(rows)))),
      ),
    ),
  );
}

/** The parts to show: of many the first, the others as one; and what no part explains, so that the sum is the score. */
function withRest(parts, score) {
  const rows = parts.slice(0, MOST_ROWS);
  const folded = parts.slice(MOST_ROWS);
  if (folded.length) rows.push({ word: `(${count(folded.length)} more)`, words: [], score: sum(folded) });
  const left = score - sum(rows);
  if (Math.abs(left) > 0.0005 * Math.max(1, Math.abs(score)))
    rows.push({ word: "(not by single words)", words: [], score: left });
  return rows;
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
