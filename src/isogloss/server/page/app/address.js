// The address is the state: all that decides what is shown stands in the query string, under the names of the API.

/** How results are shown: as they are written and with a gloss, without one, or only as a gloss. */
export const GLOSSES = ["both", "gloss", "original"];

/** What an address asks for. */
export function readAddress(search = location.search) {
  const parameters = new URLSearchParams(search);
  const offset = Number.parseInt(parameters.get("offset") ?? "0", 10);
  const gloss = parameters.get("gloss");
  return {
    query: (parameters.get("q") ?? "").trim(),
    languages: parameters.getAll("lang").filter(Boolean),
    from: parameters.get("query_lang") ?? "",
    filters: parameters.getAll("filter").filter(Boolean),
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
    exact: parameters.get("exact") === "1",
    gloss: GLOSSES.includes(gloss) ? gloss : GLOSSES[0],
    compare: parameters.get("compare") === "1",
    document: parameters.get("id")
      ? {
          id: parameters.get("id"),
          language: parameters.get("language") ?? "",
          other: parameters.get("index") === "compare",
          glossed: parameters.get("glossed") === "1",
        }
      : null,
  };
}

/** The address of a state, relative to the page. */
export function addressOf(state) {
  const parameters = new URLSearchParams();
  if (state.query) parameters.set("q", state.query);
  for (const language of state.languages) parameters.append("lang", language);
  if (state.from) parameters.set("query_lang", state.from);
  for (const filter of state.filters) parameters.append("filter", filter);
  if (state.offset) parameters.set("offset", String(state.offset));
  if (state.exact) parameters.set("exact", "1");
  if (state.gloss !== GLOSSES[0]) parameters.set("gloss", state.gloss);
  if (state.compare) parameters.set("compare", "1");
  if (state.document) {
    parameters.set("language", state.document.language);
    parameters.set("id", state.document.id);
    if (state.document.other) parameters.set("index", "compare");
    if (state.document.glossed) parameters.set("glossed", "1");
  }
  const text = parameters.toString();
  return text ? `?${text}` : "./";
}
