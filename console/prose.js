/** A model's text on the page. What has not changed stays: selections and screen readers keep their place. */

import { el } from "./dom.js";
import { blocksOf, openBlocksOf, spansOf } from "./markdown.js";

/** The heading above the text is an h2. */
const TOP = 3;

/** @param {HTMLElement} container @param {string} text @param {boolean} open more is to come */
export function showProse(container, text, open) {
  const blocks = open ? openBlocksOf(text) : blocksOf(text);
  const first = blocks.find((block) => block.kind === "heading")?.level ?? 1;
  blocks.forEach((block, index) => place(container, index, block, first));
  while (container.children.length > blocks.length) container.lastElementChild?.remove();
  container.toggleAttribute("data-open", open);
  for (const child of container.children) {
    // A block is announced when it is whole, and not word by word.
    child.setAttribute("aria-busy", String(open && child === container.lastElementChild));
  }
}

function place(container, index, block, first) {
  const there = /** @type {any} */ (container.children[index]);
  const told = JSON.stringify(block);
  if (there?.told === told) return;
  const made = Object.assign(MAKERS[block.kind](block, first), { told });
  if (there) there.replaceWith(made);
  else container.append(made);
}

const spanned = ({ kind, text }) => (kind === "text" ? text : el(kind, null, text));
const spans = (text) => spansOf(text).map(spanned);
const items = (block) => block.items.map((item) => el("li", null, ...spans(item)));

const MAKERS = {
  p: (block) => el("p", null, ...spans(block.text)),
  heading: (block, first) =>
    el(`h${Math.min(6, TOP + Math.max(0, block.level - first))}`, null, ...spans(block.text)),
  ul: (block) => el("ul", null, ...items(block)),
  ol: (block) => el("ol", { start: block.first }, ...items(block)),
  code: (block) => el("pre", { tabindex: 0 }, el("code", null, block.text)),
  table: (block) =>
    el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "table" }, table(block.rows)),
};

function table([head, ...rows]) {
  const row = (cells, tag, more) => el("tr", null, ...cells.map((cell) => el(tag, cellOf(cell, more), ...spans(cell))));
  return el(
    "table", null,
    el("thead", null, row(head, "th", { scope: "col" })),
    el("tbody", null, ...rows.map((cells) => row(cells, "td", {}))),
  );
}

function cellOf(cell, more) {
  return { ...more, class: /^[-+]?[\d.,]+\s*%?$/.test(cell) ? "figure" : null };
}
