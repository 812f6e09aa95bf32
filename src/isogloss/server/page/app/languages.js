// Names of languages, and numbers as people read them.

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
const numbers = new Intl.NumberFormat("en-GB");
const conjunction = new Intl.ListFormat("en-GB", { type: "conjunction" });
const disjunction = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** "fr" to "French"; a code that is not known stays what it is. */
export function nameOf(code) {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}

/** 12345 to "12,345". */
export function count(number) {
  return numbers.format(number);
}

/** "1 document", "2 documents". */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** "French, Swahili and Chinese"; of many the first few, and how many more. */
export function listed(items, most = 6) {
  const shown = items.length > most ? [...items.slice(0, most - 1), `${count(items.length - most + 1)} more`] : items;
  return conjunction.format(shown);
}

/** "English or German". */
export function alternatives(items) {
  return disjunction.format(items);
}

/** A score with as many digits as tell neighbours apart, and a minus that is one. */
export function scored(score) {
  const size = Math.abs(score);
  const digits = size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return score.toFixed(digits).replace("-", "−");
}

/** .624 to "62 %"; what is nearly nothing or nearly all says so. */
export function percent(share) {
  if (share > 0 && share < 0.01) return "< 1 %";
  if (share < 1 && share > 0.99) return "> 99 %";
  return `${Math.round(100 * share)} %`;
}

/** How many characters a person would count, near enough: code points, as the service counts them. */
export function length(text) {
  let points = 0;
  for (const _ of text) points += 1;
  return points;
}
