// Messages when there is nothing to show: why, and what to do about it.

import { addressOf } from "./address.js";
import { el } from "./dom.js";
import { count, counted, listed, nameOf } from "./languages.js";

const ADVICE = {
  unreachable: [
    "The search service cannot be reached",
    "It may have been stopped. Start it with “isogloss serve”, or check the connection, then try again.",
  ],
  late: ["The answer took too long", "Try again, or ask with fewer words."],
  busy: ["The service is busy", "Many are searching at the moment. Try again in a few seconds."],
  long: ["The query is too long", "Shorten it to what matters most and search again."],
  missing: ["There is no such document", "It may have been removed from the index since this address was made."],
  refused: ["This cannot be searched", "The service did not accept the request."],
  broken: [
    "Something went wrong in the service",
    "This is not your fault. Try again; if it stays, tell whoever runs the service.",
  ],
};

/** The remark on results of which even the best is hardly relevant. */
export const DOUBT = "Probably nothing here: even the best result scores below what counts as relevant.";

/** One sentence for a failure. */
export function failureText(failure) {
  const [what, advice] = ADVICE[failure.kind] ?? ADVICE.broken;
  return `${what}. ${advice}`;
}

/** A failure as a view: what happened, what to do, and a button that tries again. */
export function failureView(failure, again) {
  const [what, advice] = ADVICE[failure.kind] ?? ADVICE.broken;
  const details = [failure.message, failure.requestId && `request ${failure.requestId}`].filter(Boolean).join(" · ");
  const hopeless = ["long", "missing", "refused"].includes(failure.kind);
  return notice(what, [
    el("p", {}, advice),
    details ? el("p", { class: "fine" }, details) : null,
    hopeless
      ? null
      : el("p", {}, el("button", { class: "button again", type: "button", on: { click: again } }, "Try again")),
  ]);
}

/** A query that is longer than the service reads, and a way to search with its beginning. */
export function tooLong(characters, longest, cut) {
  return notice(ADVICE.long[0], [
    el("p", {}, `It has ${counted(characters, "character")}; at most ${count(longest)} are read. ${ADVICE.long[1]}`),
    el(
      "p",
      {},
      el("button", { class: "button", type: "button", on: { click: cut } }, `Search with the first ${count(longest)}`),
    ),
  ]);
}

/** Nothing found: the likely reasons, the likeliest first, each with its way out. */
export function nothingFound(state, answer) {
  const ways = [];
  if (state.offset) ways.push(way(state, { offset: 0 }, "There are not that many results.", "Go to the first page"));
  if (state.exact)
    ways.push(way(state, { exact: false }, "Searched exactly as it is typed.", "Forgive typing errors"));
  if (answer.unknown.length)
    ways.push(
      el(
        "li",
        {},
        "The index does not know ",
        words(answer.unknown),
        ". Check the spelling, or try a more common word.",
      ),
    );
  if (state.filters.length)
    ways.push(way(state, { filters: [], offset: 0 }, "Only some documents were searched.", "Search without filters"));
  if (state.languages.length) {
    ways.push(
      way(
        state,
        { languages: [], offset: 0 },
        `Only documents in ${listed(state.languages.map(nameOf))} were searched.`,
        "Search all languages",
      ),
    );
  }
  const { language, expected } = answer;
  if (language && expected && language !== expected) {
    ways.push(el("li", {}, `The query looks ${nameOf(language)}; this index expects queries in ${nameOf(expected)}.`));
  }
  if (!state.offset) ways.push(el("li", {}, "Fewer or more general words find more."));
  return notice("Nothing found", [el("ul", { class: "ways" }, ways)]);
}

/** Words of the query, each set apart from the sentence around it. */
export function words(items, most = 8) {
  const shown = items.slice(0, most).flatMap((word, place) => [place ? ", " : null, el("b", {}, el("bdi", {}, word))]);
  return el("span", {}, shown, items.length > most ? ` and ${count(items.length - most)} more` : null);
}

/** A message in the middle of the page. */
export function notice(heading, children) {
  return el("section", { class: "notice" }, el("h2", {}, heading), children);
}

function way(state, change, reason, label) {
  return el("li", {}, `${reason} `, el("a", { href: addressOf({ ...state, ...change }), "data-inner": true }, label));
}
