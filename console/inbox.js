/** What all runs ask, as cards, and how many of them are open. */

import { el, say } from "./dom.js";
import { questionCard } from "./question.js";
import { ago } from "./words.js";

/**
 * @param {{list: HTMLElement, state: HTMLElement, onCount: (open: number, more: boolean) => void}} parts
 * @param {import("./question.js").Ways & {load: () => Promise<{approvals: any[], next: string|null}>}} ways
 */
export function inbox({ list, state, onCount }, ways) {
  const cards = new Map();
  let latest = 0;

  async function refresh() {
    const mine = ++latest;
    let page;
    try {
      page = await ways.load();
    } catch (trouble) {
      say(state, `The questions can't be read: ${trouble.message}.`);
      return;
    }
    // An answer that was overtaken by a later one is old news.
    if (mine === latest) show(page);
  }

  function show(page) {
    const asked = new Map(page.approvals.map((one) => [`${one.run_id} ${one.approval_id}`, one]));
    for (const [key, one] of asked) {
      if (!cards.has(key)) add(key, one);
      cards.get(key).update({ ...one, resolved: null, closed: false });
    }
    for (const [key, card] of cards) if (!asked.has(key) && card.isOpen()) card.close(GONE);
    count(page.next !== null);
  }

  function add(key, one) {
    const origin = el("p", { class: "quiet" },
      `${one.agent}, ${ago(one.requested_at, Date.now())}, in `, el("a", { href: `#${one.run_id}` }, "this run"));
    cards.set(key, questionCard({ ...one, resolved: null, closed: false }, ways, { origin, level: "h2" }));
    list.append(el("li", null, cards.get(key).root));
  }

  function count(more = false) {
    const open = [...cards.values()].filter((card) => card.isOpen()).length;
    onCount(open, more);
    say(state, more ? "There are more; they come when these are answered." : open ? "" : "Nothing is asked.");
  }

  return {
    refresh,
    count,
    tick: () => { for (const card of cards.values()) card.tick(); },
    /** Whoever comes back finds what is open, and not what was answered. */
    tidy() {
      for (const [key, card] of cards) {
        if (card.isOpen()) continue;
        card.root.parentNode.remove();
        cards.delete(key);
      }
    },
  };
}

const GONE = "This is not asked any more: somebody answered, or the run has ended. The run shows which.";
