/** The list of runs, newest first. */

import { chip, el, rechip, say } from "./dom.js";
import { ago, short } from "./words.js";

/**
 * @param {{list: HTMLElement, more: HTMLButtonElement, state: HTMLElement}} parts
 * @param {(next: string|null) => Promise<{runs: any[], next: string|null}>} load
 */
export function runList({ list, more, state }, load) {
  const rows = new Map();
  let next = null;
  let open = null;

  async function refresh() {
    const page = await loaded(null);
    if (!page) return;
    if (!page.runs.some((run) => rows.has(run.run_id))) startOver(page.next);
    list.prepend(...made(page.runs));
    settle(page);
  }

  async function goOn() {
    const page = await loaded(next);
    if (!page) return;
    next = page.next;
    list.append(...made(page.runs));
    settle(page);
  }

  /** The first time, or after so long that the newest page knows none of the old ones. */
  function startOver(following) {
    rows.clear();
    list.replaceChildren();
    next = following;
  }

  async function loaded(from) {
    try {
      return await load(from);
    } catch (trouble) {
      say(state, `The list can't be read: ${trouble.message}.`);
      return null;
    }
  }

  function settle(page) {
    for (const run of page.runs) rows.get(run.run_id).update(run);
    more.hidden = next === null;
    say(state, list.children.length ? "" : "No run yet.");
  }

  function made(runs) {
    return runs.filter((run) => !rows.has(run.run_id)).map(known);
  }

  function known(run) {
    const row = item(run);
    rows.set(run.run_id, row);
    row.mark(run.run_id === open);
    return row.root;
  }

  more.addEventListener("click", goOn);

  return {
    refresh,
    /** What the followed run's own log says is newer than the list. */
    update: (runId, status) => rows.get(runId)?.rechip(status),
    mark(runId) {
      open = runId;
      for (const [id, row] of rows) row.mark(id === runId);
    },
  };
}

function item(run) {
  const status = chip(run.status);
  const when = el("span", { class: "quiet" });
  const title = el("span", { class: "run-title" }, short(run.metadata?.title || run.agent, 80));
  const link = el("a", { href: `#${run.run_id}` }, title, el("span", { class: "run-line" }, status, when));
  return {
    root: el("li", null, link),
    rechip: (now) => rechip(status, now),
    mark: (here) => (here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current")),
    update(now) {
      rechip(status, now.status);
      say(when, `${now.agent} · ${ago(now.created_at, Date.now())}`);
    },
  };
}
