/** A run's steps, tool calls and notes in the order in which they came. */

import { currentStep } from "./fold.js";
import { el, say } from "./dom.js";
import { showProse } from "./prose.js";
import { between, doing, ending, short } from "./words.js";

/**
 * @param {HTMLElement} list an ol
 * @returns {{show: (view: import("./fold.js").View) => void, clear: () => void}}
 */
export function timeline(list) {
  const made = new Map();
  const now = el("li", { class: "doing" }, el("span", { class: "spinner", "aria-hidden": "true" }), el("span"));

  function show(view) {
    const keys = new Set(view.items.map((item) => item.key));
    for (const [key, { root }] of made) if (!keys.has(key)) forget(key, root);
    for (const item of view.items) {
      if (!made.has(item.key)) made.set(item.key, item.kind === "step" ? stepItem(item) : noteItem(item));
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

function stepItem({ number }) {
  const fate = el("span", { class: "quiet" });
  const notes = el("ul", { class: "notes", hidden: true });
  const text = el("div", { class: "prose" });
  const calls = el("div", { class: "calls" });
  const head = el("div", { class: "step-head" }, el("h2", null, `Step ${number}`), fate);
  const root = el("li", { class: "step" }, head, notes, text, calls);
  const shownCalls = new Map();

  function update(step) {
    if (root.told === step) return;
    root.told = step;
    root.toggleAttribute("data-open", step.open);
    say(fate, step.partial ? "broken off" : "");
    notes.hidden = step.notes.length === 0;
    for (const note of step.notes.slice(notes.children.length)) notes.append(el("li", { class: "note" }, note.text));
    showProse(text, step.text, step.open);
    for (const call of step.calls) showCall(calls, shownCalls, call);
  }
  return { root, update };
}

function showCall(container, shown, call) {
  if (!shown.has(call.call_id)) {
    shown.set(call.call_id, callItem());
    container.append(shown.get(call.call_id).root);
  }
  shown.get(call.call_id).update(call);
}

function callItem() {
  const name = el("code", { class: "call-name" });
  const args = el("code", { class: "call-args" });
  const state = el("span", { class: "call-state" });
  const took = el("span", { class: "quiet" });
  const asked = el("pre", { tabindex: 0 });
  const said = el("pre", { tabindex: 0 });
  const body = el("div", { class: "call-body" }, el("h3", null, "asked"), asked, el("h3", null, "answered"), said);
  const root = el("details", { class: "call" }, el("summary", null, name, args, state, took), body);

  function update(call) {
    root.dataset.state = outcome(call);
    say(name, call.name);
    say(args, short(JSON.stringify(call.args ?? {}), 60));
    say(state, outcome(call));
    say(took, between(call.startedAt, call.endedAt) ?? "");
    say(asked, JSON.stringify(call.args ?? {}, null, 2));
    say(said, answer(call));
  }
  return { root, update };
}

function outcome(call) {
  if (call.state !== "finished") return call.state;
  return call.ok ? "finished" : "finished, not ok";
}

function answer(call) {
  if (call.state === "unknown") return "Nobody knows how this call ended.";
  return call.content === null ? "nothing yet" : call.content + (call.cut ? "…" : "");
}
