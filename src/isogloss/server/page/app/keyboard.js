// The page without a mouse: / to the box, arrows or j and k between results, w for why, g for glosses, Escape to clear or
// close. In a gloss the arrows go from word to word.

import { byId } from "./dom.js";
import { hideTip } from "./tip.js";

/** Listen for the keys of the page; `clear` empties the box, `nextGloss` shows results in another way. */
export function listenForKeys({ clear, nextGloss }) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    const action = actionOf(event, clear, nextGloss);
    if (action && action() !== false) event.preventDefault();
  });
}

function actionOf(event, clear, nextGloss) {
  const target = event.target;
  if (target === byId("query")) {
    return { Escape: clear, ArrowDown: () => move(target, 1) }[event.key];
  }
  if (target.matches("select")) return null;
  const actions = {
    "/": () => {
      byId("query").focus();
      byId("query").select();
    },
    j: () => move(target, 1),
    ArrowDown: () => inResults(target) && move(target, 1),
    k: () => move(target, -1),
    ArrowUp: () => inResults(target) && move(target, -1),
    ArrowRight: () => toWord(target, 1) || across(target, 1),
    ArrowLeft: () => toWord(target, -1) || across(target, -1),
    w: () => openWhy(target),
    g: nextGloss,
    Escape: () => hideTip() || escape(target, clear),
  };
  return Object.hasOwn(actions, event.key) ? actions[event.key] : null;
}

function inResults(target) {
  return Boolean(target.closest(".card")) && !target.matches("summary");
}

/** Focus the next or previous title; before the first there is the box. False if there is nowhere to go. */
function move(target, step) {
  const card = target.closest(".card");
  const titles = [...(card?.closest(".cards") ?? byId("view")).querySelectorAll(".card .title")];
  const here = card ? titles.indexOf(card.querySelector(".title")) : -1;
  if (here + step < 0) {
    if (!card) return false;
    byId("query").focus();
    scrollTo({ top: 0 });
    return true;
  }
  const next = titles[Math.min(here + step, titles.length - 1)];
  next?.focus();
  next?.closest(".card").scrollIntoView({ block: "nearest" });
  return Boolean(next);
}

/** In the glosses of a card or document: to the next or previous word, to which Tab then comes back. False elsewhere. */
function toWord(target, step) {
  if (!target.matches(".word")) return false;
  const words = [...target.closest(".card, .document").querySelectorAll(".word")];
  const next = words[words.indexOf(target) + step] ?? target;
  for (const word of words) word.tabIndex = word === next ? 0 : -1;
  next.focus();
  return true;
}

/** In the view of two systems: to the same document in the other column, or to the one that stands there. */
function across(target, step) {
  const columns = [...byId("view").querySelectorAll(".column")];
  const card = target.closest(".card");
  const other = columns[columns.indexOf(target.closest(".column")) + step];
  if (!card || !other || !target.closest(".column")) return false;
  const cards = [...other.querySelectorAll(".card")];
  const place = [...target.closest(".cards").querySelectorAll(".card")].indexOf(card);
  const next = cards.find((one) => one.dataset.key === card.dataset.key) ?? cards[Math.min(place, cards.length - 1)];
  next?.querySelector(".title").focus();
  return Boolean(next);
}

function openWhy(target) {
  const button = target.closest(".card")?.querySelector(".toggle");
  button?.click();
  return Boolean(button);
}

/** Close what is open: the "why" of this card, or the document; otherwise empty the box. */
function escape(target, clear) {
  const button = target.closest(".card")?.querySelector('.toggle[aria-expanded="true"]');
  const back = byId("view").querySelector(".way-back a");
  if (button) {
    button.click();
    button.focus();
  } else if (back) {
    back.click();
  } else {
    clear();
  }
}
