/** Tabs, as the ARIA practices have them: one of them is in the tab order, the arrows go to the others. */

/** @param {HTMLElement} list with `role=tablist` @param {() => void} changed */
export function tabs(list, changed) {
  const all = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role="tab"]')]);

  function choose(tab) {
    for (const one of all) {
      const here = one === tab;
      one.setAttribute("aria-selected", String(here));
      one.tabIndex = here ? 0 : -1;
      const panel = document.getElementById(one.getAttribute("aria-controls") ?? "");
      if (panel) panel.hidden = !here;
    }
    changed();
  }

  list.addEventListener("click", (event) => {
    const tab = /** @type {HTMLElement} */ (event.target).closest('[role="tab"]');
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const next = all[(at + step + all.length) % all.length];
    next.focus();
    choose(next);
  });
}
