// The parts of a text that a reader sees at a glance: headings, code, lists, tables, paragraphs. Whatever is none is a
// paragraph.

const FENCES = ["```", "~~~"];
const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^(#{1,6})[ \t]+(?=\S)/;
const CELL = " | ";
const ITEM = /^[ \t]*(?:[-*+•]|(\d{1,3}[.)]))[ \t]+(?=\S)/;

/**
 * The blocks of a text, in order: `kind` (heading, code, item, row, paragraph) and where its words `begin` and `end`;
 * the `level` of a heading, whether an item is `ordered`, the `cells` of a row, each with its own `begin` and `end`.
 */
export function blocksOf(text) {
  const lines = linesOf(text);
  const last = Object.fromEntries(FENCES.map((mark) => [mark, lines.findLastIndex((line) => closes(line, mark))]));
  const blocks = [];
  for (let place = 0; place < lines.length; place += 1) {
    const line = lines[place];
    const fence = FENCE.exec(line.text)?.[1];
    const close = fence && place < last[fence] ? lines.findIndex((one, at) => at > place && closes(one, fence)) : 0;
    const heading = HEADING.exec(line.text);
    const item = ITEM.exec(line.text);
    if (close) {
      if (close > place + 1) blocks.push({ kind: "code", begin: lines[place + 1].begin, end: lines[close - 1].end });
      place = close;
    } else if (heading) {
      blocks.push({ kind: "heading", level: heading[1].length, begin: line.begin + heading[0].length, end: line.end });
    } else if (item) {
      blocks.push({ kind: "item", ordered: Boolean(item[1]), begin: line.begin + item[0].length, end: line.end });
    } else if (line.text.includes(CELL)) {
      blocks.push({ kind: "row", begin: line.begin, end: line.end, cells: cellsOf(line) });
    } else if (line.text.trim()) {
      const last = blocks.at(-1);
      const open = last && ["item", "paragraph"].includes(last.kind) && last.end + 1 === line.begin;
      if (open) last.end = line.end;
      else blocks.push({ kind: "paragraph", begin: line.begin, end: line.end });
    }
  }
  return blocks;
}

function linesOf(text) {
  let begin = 0;
  return text.split("\n").map((line) => {
    const here = { text: line, begin, end: begin + line.length };
    begin = here.end + 1;
    return here;
  });
}

function cellsOf(line) {
  let begin = line.begin;
  return line.text.split(CELL).map((text) => {
    const cell = { begin, end: begin + text.length };
    begin = cell.end + CELL.length;
    return cell;
  });
}

/** Whether a line ends code that began with a mark. What nothing ends is no code. */
function closes(line, mark) {
  return line.text.trim() === mark;
}
