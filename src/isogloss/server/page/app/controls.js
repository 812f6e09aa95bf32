// What stands around the box: the languages to search, the language of the query, filters, and what the index holds.

import { addressOf } from "./address.js";
import { byId, el } from "./dom.js";
import { alternatives, count, counted, listed, nameOf } from "./languages.js";

const FEW = 8; // languages that are shown without folding them away

/** Bring everything around the box in line with the state and the status; `change` is told what the reader changed. */
export function showControls(state, status, answer, change) {
  byId("home").href = "./";
  showLanguages(state, status, change);
  showFrom(state, status, answer);
  showFilters(state);
  showCompare(state, status);
  if (status) byId("about").replaceChildren(...about(status));
}

/** The language the reader has chosen for the query; "" to have it told. */
export function chosenFrom() {
  return byId("from").value;
}

function showLanguages(state, status, change) {
  const field = byId("languages");
  const known = Object.entries(status?.languages ?? {}).sort(([one], [two]) => nameOf(one).localeCompare(nameOf(two)));
  const focused = document.activeElement?.closest("#languages") ? document.activeElement.value : null;
  field.hidden = known.length < 2;
  const wanted = new Set(state.languages);
  const total = known.reduce((sum, [, number]) => sum + number, 0);
  const choose = (language) => change({ languages: toggled(wanted, language, known.length) });
  const choices = [
    choice("", "All", total, wanted.size === 0, () => change({ languages: [] })),
    ...known.map(([language, number]) =>
      choice(language, nameOf(language), number, wanted.has(language), () => choose(language)),
    ),
  ];
  const open = field.querySelector("details")?.open ?? false;
  const body =
    known.length > FEW
      ? el(
          "details",
          { open },
          el("summary", {}, wanted.size ? counted(wanted.size, "language") : `All ${count(known.length)} languages`),
          el("div", { class: "many" }, choices),
        )
      : el("div", { class: "few" }, choices);
  field.replaceChildren(field.querySelector("legend"), body);
  if (focused !== null) [...field.querySelectorAll("input")].find((input) => input.value === focused)?.focus();
}

/** The languages after one was chosen or unchosen; all of them is the same as none. */
function toggled(wanted, language, all) {
  const after = new Set(wanted);
  if (!after.delete(language)) after.add(language);
  return after.size === all ? [] : [...after].sort();
}

function choice(value, name, number, checked, chosen) {
  const input = el("input", { type: "checkbox", name: "lang", value, on: { change: chosen } });
  input.checked = checked;
  return el(
    "label",
    { class: "choice" },
    input,
    el("span", {}, name),
    " ",
    el("small", {}, count(number), el("span", { class: "unseen" }, " documents")),
  );
}

function showFrom(state, status, answer) {
  byId("from-field").hidden = !status;
  if (!status) return;
  const codes = [...new Set([...status.asked, ...Object.keys(status.languages), state.from])].filter(Boolean);
  codes.sort((one, two) => nameOf(one).localeCompare(nameOf(two)));
  const told = !state.from && state.query && answer?.language ? `${nameOf(answer.language)} (detected)` : "Detect";
  byId("from").replaceChildren(
    ...[["", told], ...codes.map((code) => [code, nameOf(code)])].map(([value, name]) =>
      el("option", { value, selected: value === state.from }, name),
    ),
  );
}

function showFilters(state) {
  byId("filters").hidden = !state.filters.length;
  byId("filters").replaceChildren(
    ...state.filters.map((filter) =>
      el(
        "a",
        {
          class: "filter",
          href: addressOf({ ...state, offset: 0, filters: state.filters.filter((other) => other !== filter) }),
          "data-inner": true,
          "aria-label": `Remove the filter ${filter}`,
        },
        el("bdi", {}, filter.replace(":", ": ")),
        el("span", { "aria-hidden": "true" }, " ×"),
      ),
    ),
  );
}

function showCompare(state, status) {
  const link = byId("compare");
  link.hidden = !status?.other;
  link.textContent = state.compare ? "One system" : "Compare systems";
  link.href = addressOf({ ...state, document: null, offset: 0, compare: !state.compare });
}

function about(status) {
  const languages = Object.entries(status.languages).sort(([, one], [, two]) => two - one);
  const total = languages.reduce((sum, [, number]) => sum + number, 0);
  const where = languages.length ? ` in ${listed(languages.map(([language]) => nameOf(language)))}` : "";
  const how = status.summary && !status.other ? ` (${status.summary})` : "";
  const systems = [status.system, status.other?.system].filter(Boolean).join(" and ") || "isogloss";
  const others = Object.entries(status.systems).filter(([, system]) => system !== status.system);
  const rest = others.map(([language, system]) => `, documents in ${nameOf(language)} by ${system}`).join("");
  return [
    `${counted(total, "document")}${where}. Queries in ${alternatives(status.asked.map(nameOf))}. `,
    `Ranked by ${systems}${how}${rest}. `,
    el("a", { href: "api/v1/openapi.json" }, "API"),
  ];
}
