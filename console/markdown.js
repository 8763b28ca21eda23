/**
 * The little Markdown that models write, as values: blocks of spans. What is not known here stays as it was written.
 *
 * @typedef {{kind: "text"|"strong"|"em"|"code", text: string}} Span
 * @typedef {{kind: "p"|"heading"|"ul"|"ol"|"table"|"code", text?: string, level?: number, items?: string[],
 *   first?: number, rows?: string[][]}} Block
 */

const FENCE = /^\s*```/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBER = /^\s*(\d+)[.)]\s+(.*)$/;
const ROW = /^\s*\|/;
const RULE = /^[\s|:-]+$/;
const INLINE = /(`[^`\n]+`|\*\*[^*\n]+\*\*|\*[^*\s][^*\n]*\*)/;

/** @param {string} text @returns {Block[]} */
export function blocksOf(text) {
  const lines = text.split("\n");
  const found = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at);
    if (block) found.push(block);
    at = next;
  }
  return found;
}

/** The blocks of a text that is being written: bold words are bold before their end has come.
 * @param {string} text @returns {Block[]} */
export function openBlocksOf(text) {
  const blocks = blocksOf(text);
  const last = blocks.at(-1);
  return last?.kind === "p" ? [...blocks.slice(0, -1), { ...last, text: closed(last.text) }] : blocks;
}

function closed(text) {
  const whole = text.split("**").length % 2 === 1;
  if (whole) return text;
  return text.endsWith("**") ? text.slice(0, -2) : `${text}**`;
}

/** @param {string} text @returns {Span[]} */
export function spansOf(text) {
  return text.split(INLINE).filter(Boolean).map((part) => {
    if (!INLINE.test(part)) return { kind: "text", text: part };
    if (part.startsWith("`")) return { kind: "code", text: part.slice(1, -1) };
    if (part.startsWith("**")) return { kind: "strong", text: part.slice(2, -2) };
    return { kind: "em", text: part.slice(1, -1) };
  });
}

/** @returns {[Block|null, number]} */
function blockAt(lines, at) {
  const line = lines[at];
  if (!line.trim()) return [null, at + 1];
  if (FENCE.test(line)) return code(lines, at);
  const heading = HEADING.exec(line);
  if (heading) return [{ kind: "heading", level: heading[1].length, text: heading[2] }, at + 1];
  for (const [pattern, make] of [[ROW, table], [BULLET, bullets], [NUMBER, numbers]]) {
    if (pattern.test(line)) return gathered(lines, at, (next) => pattern.test(next), make);
  }
  return gathered(lines, at, isPlain, (found) => ({ kind: "p", text: found.join("\n").trimEnd() }));
}

function gathered(lines, at, belongs, make) {
  let end = at + 1;
  while (end < lines.length && belongs(lines[end])) end += 1;
  return [make(lines.slice(at, end)), end];
}

function isPlain(line) {
  return Boolean(line.trim()) && ![FENCE, HEADING, BULLET, NUMBER, ROW].some((pattern) => pattern.test(line));
}

/** A fence that is still open goes to the end: its text is being written. */
function code(lines, at) {
  const close = lines.findIndex((line, index) => index > at && FENCE.test(line));
  const end = close < 0 ? lines.length : close;
  return [{ kind: "code", text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

function table(lines) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  return { kind: "table", rows: lines.filter((line, index) => index !== 1 || !RULE.test(line)).map(cells) };
}

function bullets(lines) {
  return { kind: "ul", items: lines.map((line) => BULLET.exec(line)[1]) };
}

function numbers(lines) {
  return { kind: "ol", first: Number(NUMBER.exec(lines[0])[1]), items: lines.map((line) => NUMBER.exec(line)[2]) };
}
