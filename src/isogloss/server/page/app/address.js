// The address is the state: all that decides what is shown stands in the query string, under the names of the API.

/** What an address asks for. */
export function readAddress(search = location.search) {
  const given = new URLSearchParams(search);
  const offset = Number.parseInt(given.get("offset") ?? "0", 10);
  return {
    query: (given.get("q") ?? "").trim(),
    languages: given.getAll("lang").filter(Boolean),
    from: given.get("query_lang") ?? "",
    filters: given.getAll("filter").filter(Boolean),
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
    compare: given.get("compare") === "1",
    document: given.get("id")
      ? { id: given.get("id"), language: given.get("language") ?? "", other: given.get("index") === "compare" }
      : null,
  };
}

/** The address of a state, relative to the page. */
export function addressOf(state) {
  const said = new URLSearchParams();
  if (state.query) said.set("q", state.query);
  for (const language of state.languages) said.append("lang", language);
  if (state.from) said.set("query_lang", state.from);
  for (const filter of state.filters) said.append("filter", filter);
  if (state.offset) said.set("offset", String(state.offset));
  if (state.compare) said.set("compare", "1");
  if (state.document) {
    said.set("language", state.document.language);
    said.set("id", state.document.id);
    if (state.document.other) said.set("index", "compare");
  }
  const text = said.toString();
  return text ? `?${text}` : "./";
}
