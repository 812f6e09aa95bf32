// Marked text: what matched stands in <mark>, everything is text.

import { el } from "./dom.js";

/** A snippet as the service cuts it: parts of text, some of which matched. */
export function markedParts(parts) {
  return parts.map(({ text, match }) => (match ? el("mark", {}, text) : text));
}

/** A text with some words marked wherever they stand, in any case; whole words only where the script has spaces. */
export function markedWords(text, words) {
  const pattern = patternOf(words);
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
