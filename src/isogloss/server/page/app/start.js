// The page before the first query: what can be searched here, and by which system.

import { addressOf } from "./address.js";
import { el } from "./dom.js";
import { alternatives, counted, listed, nameOf } from "./languages.js";

/** The view of a state without a query. */
export function startView(state, status) {
  if (!status) return { title: "", summary: "", content: [] };
  const entries = Object.entries(status.languages).sort(([, one], [, two]) => two - one);
  const total = entries.reduce((sum, [, number]) => sum + number, 0);
  const where = entries.length ? ` in ${listed(entries.map(([language]) => nameOf(language)))}` : "";
  const line = total
    ? [`Ask in ${alternatives(status.asked.map(nameOf))}. `, `${counted(total, "document")}${where} will answer.`]
    : ["This index holds no documents yet. Add some with “isogloss add”."];
  return { title: "", summary: "", content: [el("p", { class: "welcome" }, line), examples(state, status)] };
}

/** Queries to begin with, where the service suggests some. */
function examples(state, status) {
  if (!status.examples.length) return null;
  return el(
    "ul",
    { class: "examples", "aria-label": "Queries to try" },
    status.examples.map((query) =>
      el("li", {}, el("a", { class: "facet", href: addressOf({ ...state, query }), "data-inner": true }, query)),
    ),
  );
}
