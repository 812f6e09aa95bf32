// The page reads its address, asks the service, shows the answer. All state is in the address; here it is moved along.

import { addressOf, readAddress } from "./address.js";
import { Failure, askStatus } from "./api.js";
import { compareView } from "./compare.js";
import { chosenFrom, showControls } from "./controls.js";
import { documentView } from "./document.js";
import { byId } from "./dom.js";
import { listenForKeys } from "./keyboard.js";
import { length } from "./languages.js";
import { failureView, tooLong } from "./messages.js";
import { resultsView } from "./results.js";
import { startView } from "./start.js";
import { hideTip, listenForTips } from "./tip.js";

const PAUSE = 350; // milliseconds without a keystroke after which a query is searched by itself
const LONGEST = 4_000; // characters of a query, until the status of the service is known
const STALE = 30_000; // milliseconds after which the status is fetched again

const box = byId("query");
let status = null;
let statusAsked = -Infinity;
let running = new AbortController();
let pause = 0;
let answered = { query: null, answer: null };

const VIEWS = {
  start: startView,
  results: resultsView,
  compare: compareView,
  document: documentView,
  long: longView,
};

/**
 * Show what the address says. `restore`: where the reader was when this entry of the history was left; `moved`: this is
 * another page of the same results; `fresh`: the page was just loaded.
 */
async function show({ restore = null, moved = false, fresh = false } = {}) {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const state = readAddress();
  const main = byId("main");
  if (document.activeElement !== box || restore || fresh) box.value = state.query; // never while it is typed in
  byId("clear").hidden = !box.value;
  main.setAttribute("aria-busy", "true");
  let view;
  try {
    await refreshStatus(signal);
    view = await VIEWS[kindOf(state)](state, status, { signal, remembered: Boolean(restore) });
  } catch (error) {
    if (signal.aborted) return;
    view = failed(error);
  }
  if (signal.aborted) return;
  main.removeAttribute("aria-busy");
  present(state, view);
  settle(view, restore, moved);
}

function kindOf(state) {
  if (state.document) return "document";
  if (!state.query) return "start";
  if (length(state.query) > (status?.longest ?? LONGEST)) return "long";
  return state.compare && status?.other ? "compare" : "results";
}

function present(state, view) {
  hideTip();
  document.body.dataset.view = kindOf(state);
  document.title = [view.title, "isogloss"].filter(Boolean).join(" · ");
  if (view.answer) answered = { query: state.query, answer: view.answer };
  const answer = answered.query === state.query ? answered.answer : null;
  showControls(state, status, answer, (change) =>
    go({ ...readAddress(), query: box.value.trim(), offset: 0, document: null, ...change }),
  );
  byId("summary").textContent = view.summary;
  byId("summary").classList.toggle("unseen", Boolean(view.quietSummary) || !view.summary);
  byId("view").replaceChildren(...view.content.filter(Boolean));
}

/** Put focus and scroll where the reader expects them, and open what was open. */
function settle(view, restore, moved) {
  const cards = new Map([...document.querySelectorAll(".card")].map((card) => [card.dataset.key, card]));
  for (const key of restore?.open ?? []) cards.get(key)?.querySelector(".toggle").click();
  const left = (restore?.id && byId(restore.id)) || cards.get(restore?.key)?.querySelector(".title");
  const wanted = left || (view.focus ? byId("view").querySelector(view.focus) : null);
  if (restore || wanted || moved) scrollTo({ top: restore?.scroll ?? 0, behavior: "instant" });
  if (wanted || moved) (wanted ?? byId("main")).focus({ preventScroll: true });
  const isBelow = view.scroll?.getBoundingClientRect().bottom > innerHeight;
  if (isBelow && restore?.scroll === undefined) view.scroll.scrollIntoView({ block: "center" });
}

function failed(error) {
  const failure = error instanceof Failure ? error : new Failure("broken", String(error?.message ?? error));
  if (!(error instanceof Failure)) console.error(error);
  const content = [failureView(failure, () => show())];
  return { title: "", summary: content[0].querySelector("h2").textContent, quietSummary: true, content };
}

/** A query that is too long stays in the box and goes nowhere else, not even into the address. */
function showLong(state) {
  running.abort();
  byId("main").removeAttribute("aria-busy");
  present(state, longView(state));
}

function longView(state) {
  const longest = status?.longest ?? LONGEST;
  const cut = () => {
    box.value = Array.from(state.query).slice(0, longest).join("");
    go({ ...state, query: box.value.trim(), offset: 0 });
  };
  return {
    title: "",
    summary: "The query is too long",
    quietSummary: true,
    content: [tooLong(length(state.query), longest, cut)],
  };
}

/** The status decides which choices there are; without it the page still searches. */
async function refreshStatus(signal) {
  if (status && Date.now() - statusAsked < STALE) return;
  try {
    status = await askStatus(signal);
    statusAsked = Date.now();
  } catch (error) {
    if (!status && !readAddress().query && !readAddress().document) throw error;
  }
}

/** Go to a state: a new entry of the history, or the present one (while a query is being typed it is all one entry). */
function go(state, { replace = false, draft = false, moved = false, stays = false } = {}) {
  clearTimeout(pause);
  if (length(state.query) > (status?.longest ?? LONGEST)) return showLong(state);
  const address = addressOf(state);
  const same = new URL(address, location.href).href === location.href;
  if (!same && !replace) remember();
  const restore = stays ? whereabouts() : null;
  history[same || replace ? "replaceState" : "pushState"]({ draft }, "", address);
  return show({ moved, restore });
}

/** Keep with the entry that is left where the reader was in it. */
function remember() {
  history.replaceState({ ...history.state, draft: false, ...whereabouts() }, "");
}

/** Where the reader is: how far down, at which result or control, and what is open. */
function whereabouts() {
  const active = document.activeElement;
  return {
    scroll: scrollY,
    key: active?.closest?.(".card")?.dataset.key ?? null,
    id: active?.closest?.(".modes") ? active.id : null,
    open: [...document.querySelectorAll('.toggle[aria-expanded="true"]')].map(
      (button) => button.closest(".card").dataset.key,
    ),
  };
}

function search(draft) {
  const here = readAddress();
  const query = box.value.trim();
  if (draft && query === here.query && !here.document) return;
  const kept = query === here.query ? {} : { offset: 0, exact: false };
  go({ ...here, query, document: null, ...kept }, { draft, replace: Boolean(history.state?.draft) });
}

function clear() {
  box.value = "";
  byId("clear").hidden = true;
  box.focus();
  search(true);
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  search(false);
  if (matchMedia("(pointer: coarse)").matches) box.blur(); // the keyboard on the screen would cover the results
});
box.addEventListener("input", (event) => {
  byId("clear").hidden = !box.value;
  clearTimeout(pause);
  if (!event.isComposing) pause = setTimeout(() => search(true), PAUSE);
});
box.addEventListener("compositionend", () => {
  clearTimeout(pause);
  pause = setTimeout(() => search(true), PAUSE);
});
byId("clear").addEventListener("click", clear);
byId("from").addEventListener("change", () =>
  go({ ...readAddress(), query: box.value.trim(), from: chosenFrom(), offset: 0, document: null }),
);
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.matches(".skip")) {
    event.preventDefault();
    byId("main").focus();
  } else if (link.matches("[data-inner], #home, #compare")) {
    event.preventDefault();
    follow(link);
  }
});
addEventListener("popstate", () => show({ restore: history.state ?? {} }));
addEventListener("online", () => byId("view").querySelector(".notice .again")?.click());

function follow(link) {
  const state = readAddress(new URL(link.href).search);
  if (document.activeElement === box) box.blur(); // so that the box follows the address
  box.value = state.query;
  if (link.closest(".way-back") && history.state?.cameFrom === link.href) {
    history.back(); // to the results as they were left
    return;
  }
  const cameFrom = location.href;
  go(state, { moved: "moves" in link.dataset, stays: "stays" in link.dataset });
  history.replaceState({ ...history.state, cameFrom }, "");
  if (link.matches("#home")) box.focus();
}

/** The next way to show results: with a gloss, only that, or without. False where there is none to choose. */
function nextGloss() {
  const links = [...byId("view").querySelectorAll(".modes a")];
  const here = links.findIndex((link) => link.hasAttribute("aria-current"));
  links[(here + 1) % links.length]?.click();
  return links.length > 0;
}

history.scrollRestoration = "manual";
listenForKeys({ clear, nextGloss });
listenForTips();
show({ restore: history.state, fresh: true });
