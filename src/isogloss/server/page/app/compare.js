// Side by side: one query, two systems, and where each puts what the other found.

import { Failure, askSearch } from "./api.js";
import { card, keyOf } from "./card.js";
import { el } from "./dom.js";
import { count, counted, listed, nameOf } from "./languages.js";
import { drawLinks } from "./links.js";
import { DOUBT, failureText } from "./messages.js";
import { PAGE, pages, remarks } from "./results.js";

const DEEPER = 20; // ranks after the page in which documents of the other system are searched for

/** The view of a state with a query that is put to both systems. */
export async function compareView(state, status, options) {
  const depth = Math.min(state.offset + PAGE + DEEPER, status.most, status.deepest);
  const sides = [status, status.other].map((index, place) => ({ index, other: place === 1 }));
  const answers = await Promise.allSettled(sides.map((side) => sideAnswer(state, side, depth, options)));
  if (options.signal?.aborted) throw options.signal.reason;
  if (answers.every((answer) => answer.status === "rejected")) throw answers[0].reason;
  const ranked = answers.map((answer) => answer.value?.hits ?? []);
  const shown = ranked.map((hits) => hits.slice(state.offset, state.offset + PAGE));
  const columns = sides.map((side, place) =>
    column(state, side, answers[place], shown[place], ranked[1 - place], sides[1 - place], depth),
  );
  const both = el("div", { class: "columns" }, columns);
  both.prepend(drawLinks(both));
  both.addEventListener("mouseover", (event) => markTwins(both, event.target));
  both.addEventListener("focusin", (event) => markTwins(both, event.target));
  both.addEventListener("mouseleave", () => markTwins(both, null));
  const answered = answers.find((answer) => answer.status === "fulfilled").value;
  const more = ranked.some((hits) => hits.length > state.offset + PAGE);
  return {
    title: `${state.query}, side by side`,
    answer: answered,
    summary: summary(shown),
    content: [
      el("h2", { class: "unseen" }, "Results of two systems"),
      ...remarks(state, answered, status),
      both,
      pages(state, more),
    ],
  };
}

async function sideAnswer(state, { index, other }, depth, options) {
  const languages = state.languages.filter((language) => language in index.languages);
  if (state.languages.length && !languages.length) {
    throw new Failure("refused", `This index has no documents in ${listed(state.languages.map(nameOf))}.`);
  }
  return askSearch({ ...state, languages, offset: 0 }, depth, { ...options, other });
}

function column(state, side, answer, hits, theirs, opposite, depth) {
  const ranks = new Map(theirs.map((hit) => [keyOf(hit), hit.rank]));
  const heading = el("h3", {}, sideName(side), el("small", {}, side.other ? "second index" : "first index"));
  if (answer.status === "rejected")
    return el(
      "section",
      { class: "column" },
      heading,
      el("p", { class: "remark" }, answer.reason.message || failureText(answer.reason)),
    );
  if (!hits.length) return el("section", { class: "column" }, heading, el("p", { class: "remark" }, "Nothing found."));
  return el(
    "section",
    { class: "column", "aria-label": `Results of ${sideName(side)}` },
    heading,
    answer.value.doubtful ? el("p", { class: "remark doubt" }, DOUBT) : null,
    el(
      "ol",
      { class: "cards", role: "list", start: state.offset + 1 },
      hits.map((hit) =>
        el(
          "li",
          {},
          card(state, hit, { other: side.other, extra: place(hit, ranks.get(keyOf(hit)), sideName(opposite), depth) }),
        ),
      ),
    ),
  );
}

function sideName({ index, other }) {
  return index.system || (other ? "second system" : "first system");
}

/** Where the other system puts a document. */
function place(hit, rank, name, depth) {
  if (rank === undefined) return el("span", { class: "place alone" }, `not in the first ${count(depth)} of ${name}`);
  const moved = rank - hit.rank;
  const way = moved === 0 ? "same place" : `${count(Math.abs(moved))} ${moved > 0 ? "lower" : "higher"}`;
  return el("span", { class: "place" }, `${count(rank)} in ${name}, ${way}`);
}

function summary([ours, theirs]) {
  const keys = new Set(ours.map(keyOf));
  const shared = theirs.filter((hit) => keys.has(keyOf(hit))).length;
  const all = counted(Math.max(ours.length, theirs.length), "document");
  return `${count(shared)} of ${all} on this page are in both lists`;
}

/** The card under the pointer or the focus and its twin stand out, and the line between them. */
function markTwins(both, target) {
  const key = target?.closest?.("[data-key]")?.dataset.key;
  for (const item of both.querySelectorAll("[data-key]")) item.classList.toggle("twin", item.dataset.key === key);
}
