// The page of results: what is worth saying before them, the cards, the way to the next page.

import { addressOf } from "./address.js";
import { askSearch } from "./api.js";
import { card } from "./card.js";
import { el } from "./dom.js";
import { facets } from "./facets.js";
import { glossChoice } from "./gloss.js";
import { alternatives, count, counted, listed, nameOf } from "./languages.js";
import { DOUBT, nothingFound, words } from "./messages.js";

/** How many results a page holds. */
export const PAGE = 10;

const MOST_WORDS = 20; // a query may be a whole document

/** The view of a state with a query: what to show, and the line that says how much there is. */
export async function resultsView(state, status, { signal, remembered }) {
  const answer = await askSearch(state, PAGE, { signal, remembered, facets: status?.facets });
  const title = state.query;
  if (!answer.hits.length)
    return { title, answer, summary: "Nothing found", quietSummary: true, content: [nothingFound(state, answer)] };
  return {
    title,
    answer,
    summary: summary(state, answer),
    content: [
      el("h2", { class: "unseen" }, "Results"),
      answer.doubtful ? el("p", { class: "remark doubt" }, DOUBT) : null,
      ...remarks(state, answer, status),
      facets(state, answer.facets),
      glossChoice(state, answer.hits),
      el(
        "ol",
        { class: "cards", role: "list", start: state.offset + 1 },
        answer.hits.map((hit) => el("li", {}, card(state, hit))),
      ),
      pages(state, answer.more && state.offset + 2 * PAGE <= (status?.deepest ?? Infinity)),
    ],
  };
}

/** What the reader should know of how the query was read. */
export function remarks(state, answer, status) {
  const { language, expected, unknown } = answer;
  const made = spelling(state, answer);
  if (language && expected && language !== expected) {
    const expects = `this index is made for queries in ${alternatives((status?.asked ?? [expected]).map(nameOf))}`;
    made.push(
      el(
        "p",
        { class: "remark" },
        state.from
          ? `The query is taken to be in ${nameOf(language)}, but ${expects}.`
          : `This looks like a query in ${nameOf(language)}, but ${expects}. If it is not, choose its language above.`,
      ),
    );
  }
  if (unknown.length)
    made.push(el("p", { class: "remark" }, "Not known: ", words(unknown), ". The results come from the other words."));
  if (answer.glossNote) made.push(el("p", { class: "remark" }, answer.glossNote));
  const read = readings(answer.translations);
  if (read) made.push(read);
  return made;
}

/** What was searched for instead of words that look mistyped, and the way to what was typed; or the way back. */
function spelling(state, answer) {
  const to = (exact, label) =>
    el("a", { href: addressOf({ ...state, exact, offset: 0 }), "data-inner": true }, label);
  if (answer.corrected.length)
    return [
      el(
        "p",
        { class: "remark" },
        "Read as ",
        el("b", {}, el("bdi", {}, answer.readAs)),
        ". ",
        to(true, ["Search exactly for “", el("bdi", {}, state.query), "”"]),
        ".",
      ),
    ];
  if (!state.exact) return [];
  return [el("p", { class: "remark" }, "Searched exactly as it is typed. ", to(false, "Forgive typing errors"), ".")];
}

/** Previous and next. */
export function pages(state, more) {
  if (!state.offset && !more) return null;
  const to = (offset, label, rel) =>
    el(
      "a",
      { class: "button", rel, href: addressOf({ ...state, offset }), "data-inner": true, "data-moves": true },
      label,
    );
  return el(
    "nav",
    { class: "pages", "aria-label": "Pages of results" },
    state.offset ? to(Math.max(0, state.offset - PAGE), "Previous", "prev") : el("span"),
    el("span", { class: "page" }, `Page ${count(Math.floor(state.offset / PAGE) + 1)}`),
    more ? to(state.offset + PAGE, "Next", "next") : el("span"),
  );
}

function summary(state, { hits, more, total, totalIsExact, doubtful, milliseconds }) {
  const doubt = doubtful ? ", probably none of them relevant" : "";
  const time = milliseconds === null ? "" : ` · ${milliseconds < 1 ? "under 1" : count(Math.round(milliseconds))} ms`;
  if (!state.offset && !more) return `${counted(hits.length, "result")}${doubt}${time}`;
  const of = total === null ? "" : ` of ${totalIsExact ? "" : "at least "}${count(total)}`;
  const which =
    hits.length > 1 ? `Results ${count(hits[0].rank)} to ${count(hits.at(-1).rank)}` : `Result ${count(hits[0].rank)}`;
  return which + of + doubt + time;
}

/** For each language the translations of the words of the query; folded until it is opened. */
function readings(translations) {
  const languages = Object.entries(translations).filter(([, entries]) =>
    entries?.some((entry) => entry.translations?.length),
  );
  if (!languages.length) return null;
  return el(
    "details",
    { class: "readings" },
    el("summary", {}, "How the words were understood"),
    el(
      "dl",
      {},
      languages.flatMap(([language, entries]) => [
        el("dt", {}, nameOf(language)),
        el(
          "dd",
          {},
          entries
            .filter((entry) => entry.translations?.length)
            .slice(0, MOST_WORDS)
            .map((entry) =>
              el(
                "span",
                { class: "reading" },
                el("bdi", {}, entry.word),
                " → ",
                el("bdi", { lang: language }, listed(entry.translations, 4)),
              ),
            ),
        ),
      ]),
    ),
  );
}
