// The lines between two columns: a document that both have found is joined across the gap.

const GAP = 12; // between a card and its line
const SVG = "http://www.w3.org/2000/svg";

/** A drawing that follows the cards of `both` columns, wherever they come to stand. */
export function drawLinks(both) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.classList.add("links");
  drawing.setAttribute("aria-hidden", "true");
  new ResizeObserver(() => redraw(both, drawing)).observe(both);
  return drawing;
}

function redraw(both, drawing) {
  const frame = both.getBoundingClientRect();
  drawing.setAttribute("width", String(frame.width));
  drawing.setAttribute("height", String(frame.height));
  const [left, right] = [...both.querySelectorAll(".column")].map(cardsByKey);
  const paths = [];
  for (const [key, card] of left) {
    if (right.has(key))
      paths.push(line(key, card.getBoundingClientRect(), right.get(key).getBoundingClientRect(), frame));
  }
  drawing.replaceChildren(...paths);
}

function line(key, from, to, frame) {
  const path = document.createElementNS(SVG, "path");
  const [x1, y1, x2, y2] = [
    from.right - frame.left + GAP,
    heading(from, frame),
    to.left - frame.left - GAP,
    heading(to, frame),
  ];
  const middle = (x1 + x2) / 2;
  path.setAttribute("d", `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`);
  path.dataset.key = key;
  return path;
}

/** The height of a card's first line: it stays where it is when the card grows. */
function heading(box, frame) {
  return box.top - frame.top + 30;
}

function cardsByKey(column) {
  return new Map([...column.querySelectorAll("article[data-key]")].map((card) => [card.dataset.key, card]));
}
