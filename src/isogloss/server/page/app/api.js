// The service, as the page sees it: four questions, plain answers, and failures that say what kind they are.

const BASE = "api/v1/";
const PATIENCE = 30_000; // milliseconds; the service gives up earlier by itself
const KEPT = 40;
const TAKES = { exact: true, gloss: true }; // what the service can be asked for
const kept = new Map(); // the last answers, so that going back shows at once what was there

/** Why there is no answer: `kind` is one of unreachable, late, busy, long, missing, refused, broken. */
export class Failure extends Error {
  constructor(kind, message, requestId = "") {
    super(message);
    this.kind = kind;
    this.requestId = requestId;
  }
}

/** What the index holds and what the service allows. */
export async function askStatus(signal) {
  const found = await ask("status", [], signal);
  return {
    ...described(found.index),
    longest: found.limits?.query_length ?? Infinity,
    deepest: found.limits?.depth ?? Infinity,
    most: found.limits?.k ?? Infinity,
    examples: found.examples ?? [],
    other: found.compare ? described(found.compare) : null,
  };
}

/** The hits of a state's page (and whether there are more), of the index or of the one it is compared with. */
export async function askSearch(state, size, { signal, other = false, remembered = false, facets = [] } = {}) {
  const parameters = [
    ["q", state.query],
    ["k", String(size)],
    ["offset", String(state.offset)],
    ...state.languages.map((language) => ["lang", language]),
    ...state.filters.map((filter) => ["filter", filter]),
    ...facets.map((name) => ["facet", name]),
    ...(TAKES.exact && state.exact ? [["exact", "true"]] : []),
    ...(TAKES.gloss && state.gloss !== "original" ? [["gloss", "true"]] : []),
    ...(state.from ? [["query_lang", state.from]] : []),
    ...(other ? [["index", "compare"]] : []),
  ];
  const found = await ask("search", parameters, signal, remembered);
  return {
    hits: withBars(found.hits.map(hitOf)),
    total: found.total ?? null,
    totalIsExact: found.total_is_exact ?? true,
    corrected: found.corrected ?? [],
    readAs: found.read_as ?? found.query,
    glossNote: found.gloss_note ?? "",
    facets: found.facets ?? null,
    more: found.more ?? found.hits.length === size,
    language: found.query_language ?? "",
    expected: found.expected_language ?? "",
    unknown: found.unknown_words ?? [],
    doubtful: found.doubtful ?? false,
    translations: found.translations ?? {},
    milliseconds: found.milliseconds ?? null,
  };
}

/**
 * What made the score of a document: parts (word, words, score), what stands for the words of the query, the system
 * whose score it is (the re-ranker's for a hit that is `reranked`), and where the best passage of its text is.
 */
export async function askWhy(state, { language, id, reranked = false }, { signal, other = false } = {}) {
  const parameters = [
    ["q", state.query],
    ["language", language],
    ["id", id],
    ...(state.from ? [["query_lang", state.from]] : []),
    ...(other ? [["index", "compare"]] : []),
    ...(reranked ? [["reranked", "true"]] : []),
    ...(TAKES.exact && state.exact ? [["exact", "true"]] : []),
  ];
  const found = await ask("explain", parameters, signal, true);
  return {
    parts: found.explanation.map((part) => ({ word: part.query_word, words: part.document_words, score: part.score })),
    translations: (found.translations ?? []).map((entry) => ({ word: entry.word, meanings: entry.translations })),
    system: found.system ?? "",
    passage: found.passage ?? null,
  };
}

/** The whole document of a state, with its gloss if that is wanted. */
export async function askDocument(state, { signal } = {}) {
  const { language, id, other, glossed } = state.document;
  const path = `documents/${encodeURIComponent(language)}/${encodeURIComponent(id)}`;
  const parameters = [
    ...(other ? [["index", "compare"]] : []),
    ...(glossed ? [["gloss", "true"], ["q", state.query]] : []),
    ...(glossed && state.from ? [["query_lang", state.from]] : []),
  ];
  const found = await ask(path, parameters, signal, true);
  return {
    id: found.id,
    language: found.lang || language,
    title: found.title || found.id,
    text: found.text ?? "",
    gloss: found.gloss ?? null,
    glossNote: found.gloss_note ?? "",
    url: found.url ?? "",
    fields: found.fields ?? {},
    translations: found.translations ?? {},
  };
}

function described(index) {
  return {
    system: index.system ?? "",
    summary: index.summary ?? "",
    systems: index.systems ?? {},
    asked: index.query_languages ?? [],
    languages: index.documents ?? {},
    sources: index.sources ?? {},
    facets: index.facets ?? [],
  };
}

function hitOf(found) {
  return {
    ...found,
    title: found.title || found.id,
    fields: found.fields ?? {},
    snippet: found.snippet ?? [],
    relevance: found.relevance ?? null,
    chance: found.chance ?? null,
    gloss: found.gloss ?? null,
    twin: found.twin ?? null,
  };
}

/** How long the bar of each hit is, from 0 to 1: its chance, or its share of the best score; null where neither says much. */
function withBars(hits) {
  const best = hits.length ? hits[0].score : 0;
  return hits.map((hit) => ({ ...hit, bar: hit.bar ?? hit.chance ?? (best > 0 ? Math.max(0, hit.score / best) : null) }));
}

async function ask(path, parameters, signal, remembered = false) {
  const text = new URLSearchParams(parameters).toString();
  const address = `${BASE}${path}${text ? `?${text}` : ""}`;
  if (remembered && kept.has(address)) return kept.get(address);
  const answer = await fetched(address, signal);
  const found = await answer.json().catch(() => null);
  if (!answer.ok || found === null) throw failureOf(answer, found?.error ?? {});
  kept.delete(address);
  kept.set(address, found);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return found;
}

async function fetched(address, signal) {
  const limit = AbortSignal.timeout(PATIENCE);
  try {
    return await fetch(address, {
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      headers: { Accept: "application/json" },
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    if (error.name === "TimeoutError") throw new Failure("late", "");
    throw new Failure("unreachable", "");
  }
}

function failureOf(answer, error) {
  const kinds = { 404: "missing", 413: "long", 414: "long", 429: "busy", 431: "long", 503: "busy", 504: "late" };
  const kind = kinds[answer.status] ?? (answer.status >= 400 && answer.status < 500 ? "refused" : "broken");
  return new Failure(kind, error.message ?? "", error.request_id ?? answer.headers.get("X-Request-Id") ?? "");
}
