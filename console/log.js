/** The raw log: every event, and all that is in it. */

import { el } from "./dom.js";
import { between, short } from "./words.js";

/**
 * @param {HTMLElement} list an ol
 * @returns {{add: (event: import("./fold.js").Event) => void, show: () => void, clear: () => void, size: () => number}}
 */
export function rawLog(list) {
  /** @type {import("./fold.js").Event[]} */
  let events = [];

  /** Only what is looked at is made. */
  function show() {
    const missing = events.slice(list.children.length);
    list.append(...missing.map((event) => row(event, events[0].at)));
  }

  return {
    add: (event) => { events.push(event); },
    show,
    clear: () => { events = []; list.replaceChildren(); },
    size: () => events.length,
  };
}

function row(event, begin) {
  const inside = el("pre", { tabindex: 0 });
  const fill = () => { inside.textContent ||= JSON.stringify(event, null, 2); };
  return el(
    "li", null,
    el("details", { ontoggle: fill },
      el("summary", null,
        el("span", { class: "seq" }, String(event.seq)),
        el("code", { class: "type" }, event.type),
        el("span", { class: "gist" }, short(gist(event.data), 120)),
        el("span", { class: "quiet" }, `+${between(begin, event.at)}`)),
      inside),
  );
}

function gist(data) {
  if (typeof data.text === "string") return data.text;
  const { call_id: _, name, ...rest } = data;
  return name ? `${name} ${JSON.stringify(rest.content ?? rest.args ?? rest)}` : JSON.stringify(data);
}
