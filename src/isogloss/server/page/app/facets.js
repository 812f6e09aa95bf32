// Facets: how many results have each value of a field; a value leads to those alone.

import { addressOf } from "./address.js";
import { el } from "./dom.js";
import { count } from "./languages.js";

const FEW = 6; // values of a field that are shown without unfolding the others

/** What was counted, field by field; nothing where no field has a value to choose. */
export function facets(state, counted) {
  const fields = Object.entries(counted?.fields ?? {}).filter(([name, values]) => values.length && !chosen(state, name));
  if (!fields.length) return null;
  return el(
    "nav",
    { class: "facets", "aria-label": "Narrow the results" },
    el(
      "dl",
      {},
      fields.flatMap(([name, values]) => [el("dt", { dir: "auto" }, name), el("dd", {}, choices(state, name, values))]),
    ),
    counted.complete
      ? null
      : el("p", { class: "fine" }, `Counted in the best ${count(counted.counted)} results; there are more.`),
  );
}

function choices(state, name, values) {
  const links = values.map(({ value, count: number }) => choice(state, name, value, number));
  if (links.length <= FEW + 1) return links;
  return [
    ...links.slice(0, FEW),
    el("details", {}, el("summary", {}, `${count(links.length - FEW)} more`), links.slice(FEW)),
  ];
}

function choice(state, name, value, number) {
  return el(
    "a",
    {
      class: "facet",
      href: addressOf({ ...state, offset: 0, filters: [...state.filters, `${name}:${value}`] }),
      "data-inner": true,
    },
    el("bdi", {}, value),
    " ",
    el("small", {}, count(number), el("span", { class: "unseen" }, " results")),
  );
}

/** Whether a field has its one value already. */
function chosen(state, name) {
  return state.filters.some((filter) => filter.startsWith(`${name}:`));
}
