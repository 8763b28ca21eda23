/** A run's steps, tool calls and notes in the order in which they came. */

import { callItem } from "./calls.js";
import { el, say } from "./dom.js";
import { currentStep } from "./fold.js";
import { showProse } from "./prose.js";
import { doing, ending } from "./words.js";

/**
 * @param {HTMLElement} list an ol @param {import("./question.js").Ways} ways to answer what a run asks
 * @returns {{show: (view: import("./fold.js").View) => void, clear: () => void}}
 */
export function timeline(list, ways) {
  const made = new Map();
  const now = el("li", { class: "doing" }, el("span", { class: "spinner", "aria-hidden": "true" }), el("span"));

  function show(view) {
    const keys = new Set(view.items.map((item) => item.key));
    for (const [key, { root }] of made) if (!keys.has(key)) forget(key, root);
    for (const item of view.items) {
      if (!made.has(item.key)) made.set(item.key, item.kind === "step" ? stepItem(item, ways) : noteItem(item));
      const { root, update } = made.get(item.key);
      update(item);
      if (root.parentNode !== list) list.append(root);
    }
    showEnd(view);
  }

  function showEnd(view) {
    const going = doing(view, currentStep(view));
    now.hidden = going === null;
    if (going !== null) say(now.lastElementChild, going);
    if (view.end && !made.has("end")) {
      const root = el("li", { class: "end", "data-status": view.status }, ending(view.end));
      made.set("end", { root, update: () => {} });
      list.append(root);
    }
    if (list.lastElementChild !== now) list.append(now);
  }

  function forget(key, root) {
    if (key === "end") return;
    root.remove();
    made.delete(key);
  }

  function clear() {
    made.clear();
    list.replaceChildren();
  }

  return { show, clear };
}

function noteItem({ text }) {
  return { root: el("li", { class: "note" }, text), update: () => {} };
}

function stepItem({ number }, ways) {
  const fate = el("span", { class: "quiet" });
  const notes = el("ul", { class: "notes", hidden: true });
  const text = el("div", { class: "prose" });
  const calls = el("div", { class: "calls" });
  const head = el("div", { class: "step-head" }, el("h2", null, `Step ${number}`), fate);
  const root = el("li", { class: "step" }, head, notes, text, calls);
  const shownCalls = new Map();

  function update(step) {
    for (const call of shownCalls.values()) call.tick();
    if (root.told === step) return;
    root.told = step;
    root.toggleAttribute("data-open", step.open);
    say(fate, step.partial ? "broken off" : "");
    notes.hidden = step.notes.length === 0;
    for (const note of step.notes.slice(notes.children.length)) notes.append(el("li", { class: "note" }, note.text));
    showProse(text, step.text, step.open);
    for (const call of step.calls) showCall(call);
  }

  function showCall(call) {
    if (!shownCalls.has(call.call_id)) {
      shownCalls.set(call.call_id, callItem(ways));
      calls.append(shownCalls.get(call.call_id).root);
    }
    shownCalls.get(call.call_id).update(call);
  }
  return { root, update };
}
