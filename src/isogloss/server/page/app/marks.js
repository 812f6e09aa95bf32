// Marked text: what matched stands in <mark>, everything is text.

import { el } from "./dom.js";

/** A snippet as the service cuts it: parts of text, some of which matched. */
export function markedParts(parts) {
  return parts.map(({ text, match }) => (match ? el("mark", {}, text) : inOneLine(text)));
}

/** A text with a dot where a heading or a paragraph ends, for in a snippet all stand in one line. */
export function inOneLine(text) {
  return text.replace(/\s*\n\s*\n\s*/g, " · ");
}

/**
 * A function from a span of a text (`begin`, `end`) to what is shown of it: some words marked wherever they stand, in
 * any case (whole words only where the script has spaces), and the part that is in the passage set apart. A passage is
 * counted in characters as the service counts them.
 */
export function marker(text, words, passage) {
  const pattern = patternOf(words);
  const [from, to] = passage ? passage.map((point) => unitsOf(text, point)) : [0, 0];
  return ({ begin, end }) => {
    const [low, high] = [Math.min(Math.max(begin, from), end), Math.max(Math.min(end, to), begin)];
    if (low >= high) return marked(text.slice(begin, end), pattern);
    return [
      ...marked(text.slice(begin, low), pattern),
      el("span", { class: "here", tabindex: "-1" }, marked(text.slice(low, high), pattern)),
      ...marked(text.slice(high, end), pattern),
    ];
  };
}

function marked(text, pattern) {
  if (!pattern) return [text];
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(done, match.index), el("mark", {}, match[0]));
    done = match.index + match[0].length;
  }
  parts.push(text.slice(done));
  return parts.filter((part) => part !== "");
}

/** The number of UTF-16 units that so many code points take. */
function unitsOf(text, points) {
  let units = 0;
  for (let left = points; left > 0 && units < text.length; left -= 1) units += text.codePointAt(units) > 0xffff ? 2 : 1;
  return units;
}

const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function patternOf(words) {
  const sorted = [...new Set(words)].filter(Boolean).sort((one, two) => two.length - one.length);
  if (!sorted.length) return null;
  const alternatives = sorted.map((word) => {
    const plain = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return SPACELESS.test(word) ? plain : `(?<![\\p{L}\\p{M}\\p{N}])${plain}(?![\\p{L}\\p{M}\\p{N}])`;
  });
  return new RegExp(alternatives.join("|"), "giu");
}
