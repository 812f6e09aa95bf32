// The tip of a word: what it is in the document, what it may mean, what of the query it met. It comes with the pointer, the
// focus or a tap, stays while the pointer is on it, and goes with Escape.

import { byId, el, inLanguage } from "./dom.js";
import { percent } from "./languages.js";

const LEAVING = 150; // milliseconds in which the pointer may cross from the word to its tip
const GAP = 6;

const described = new WeakMap();
let leaving = 0;
let current = null;

/** Let an element have a tip about a word: `text`, `language`, `meanings`, `met`, `unknown`. */
export function describeWord(element, word) {
  described.set(element, word);
}

/** Listen for what shows and hides tips. */
export function listenForTips() {
  const tip = byId("tip");
  document.addEventListener("pointerover", ({ target }) => {
    const word = target.closest?.(".word");
    if (word) show(word);
    else if (tip.contains(target)) clearTimeout(leaving);
    else if (current && current !== document.activeElement) leave();
  });
  document.addEventListener("focusin", ({ target }) => (target.matches?.(".word") ? show(target) : hideTip()));
  document.addEventListener("focusout", ({ target }) => (target === current ? leave() : null));
  document.addEventListener("click", ({ target }) => {
    const word = target.closest?.(".word");
    if (word) show(word);
  });
  addEventListener("scroll", hideTip, { passive: true });
  addEventListener("resize", hideTip);
}

/** Hide the tip; false if there is none. */
export function hideTip() {
  clearTimeout(leaving);
  const shown = Boolean(current);
  current?.removeAttribute("aria-describedby");
  current = null;
  byId("tip").hidden = true;
  return shown;
}

function leave() {
  clearTimeout(leaving);
  leaving = setTimeout(hideTip, LEAVING);
}

function show(word) {
  clearTimeout(leaving);
  const about = described.get(word);
  if (!about || word === current) return;
  hideTip();
  current = word;
  const tip = byId("tip");
  tip.replaceChildren(...content(about));
  tip.hidden = false;
  word.setAttribute("aria-describedby", "tip");
  place(tip, word.getClientRects()[0]);
}

function content({ text, language, meanings, met, unknown }) {
  const likely = meanings.flatMap(({ word, probability }, place) => [
    place ? ", " : null,
    word,
    probability === undefined ? null : el("small", {}, ` ${percent(probability)}`),
  ]);
  return [
    el("b", inLanguage(language), text),
    el("span", {}, likely.length ? likely : unknown ? "no translation known" : "kept as it is"),
    met ? el("span", { class: "met" }, "met ", el("b", {}, met), " of the query") : null,
  ].filter(Boolean);
}

/** Below the word, or above it where there is no room. */
function place(tip, box) {
  const { width, height } = tip.getBoundingClientRect();
  const edge = document.documentElement.clientWidth - width - GAP;
  const below = box.bottom + GAP + height <= innerHeight;
  tip.style.left = `${Math.max(GAP, Math.min(box.left, edge))}px`;
  tip.style.top = `${below ? box.bottom + GAP : box.top - height - GAP}px`;
}
