/** A question to a person as a card: what is asked and why, the ways to answer, and in the end who answered what. */

import { apart, argumentsIn, decided, exact, heading, left, moment, reasons, unanswered, visible } from "./asking.js";
import { el, say } from "./dom.js";

const BUTTONS = {
  approve: { label: "Approve", look: "primary" },
  deny: { label: "Deny", look: "stop" },
  happened: { label: "It happened", look: "primary" },
  retry: { label: "It did not: make it again", look: "stop" },
  abort: { label: "It did not: leave it", look: "stop" },
};
const IN_DOUBT = "It was begun, and nobody knows how it ended. Look where it would have had its effect, and say.";
const MAX_NOTE = 1000;
const CONFLICT = 409;
let made = 0;

/**
 * @typedef {{decide: (asked: any, verdict: any) => Promise<any>, whole: (asked: any, digest: string) => Promise<any>}} Ways
 * @param {import("./asking.js").Question} asked
 * @param {Ways} ways
 * @param {{origin?: Node|null, level?: string}} [place] where it comes from, and what kind of heading it has
 */
export function questionCard(asked, ways, { origin = null, level = "h3" } = {}) {
  const id = `question-${++made}`;
  const state = { resolved: null, overtaken: false, sender: null, args: apart(asked.args) ? null : asked.args };
  const parts = facts(asked);
  const form = answerForm(asked, id, { send, args: () => state.args });
  const outcome = el("div", { class: "decision", tabindex: -1, hidden: true });
  const problem = el("p", { class: "problem", role: "alert" });
  const [before, name, after] = heading(asked);
  const root = el(
    "section", { class: "question", "aria-labelledby": id },
    el(level, { id }, before, el("code", null, visible(name)), after),
    origin, outcome, parts.root, form?.root ?? null, problem,
  );

  async function send(verdict) {
    const mine = document.activeElement;
    // A locked button loses the focus, and the log may tell of the answer before the request is answered.
    state.sender = mine;
    form.lock(true);
    say(problem, "");
    try {
      settle(await ways.decide(asked, { digest: asked.digest, ...verdict }), root.contains(mine));
    } catch (trouble) {
      const request = trouble.requestId ? ` (request ${trouble.requestId})` : "";
      state.sender = null;
      say(problem, `Not taken: ${trouble.message}${request}.`);
      form.lock(false);
      if (trouble.status === CONFLICT) overtaken(root.contains(mine));
      else form.blame(trouble.field, mine);
    }
  }

  /** Something else stands. The log tells what, where there is one. */
  function overtaken(here) {
    state.overtaken = true;
    if (!state.resolved) close("This is not asked any more.", null, here);
  }

  function settle(resolved, here = false) {
    if (state.resolved) return;
    state.resolved = resolved;
    close(decided(resolved), resolved, here);
  }

  /** Nothing can be answered here any more; whoever was about to is not left nowhere. */
  function close(text, resolved = null, wasHere = false) {
    const here = wasHere || [document.activeElement, state.sender].some((one) => one && root.contains(one));
    root.dataset.state = resolved?.decision ?? "closed";
    say(outcome, text);
    if (resolved?.at) outcome.append(el("span", { class: "quiet" }, moment(resolved.at)));
    if (resolved?.edited) outcome.append(el("pre", { tabindex: 0 }, exact(resolved.edited.args)));
    outcome.hidden = false;
    if (form) form.root.hidden = true;
    parts.fold();
    if (here) outcome.focus();
  }

  function update(now) {
    if (state.resolved) return;
    if (now.resolved) settle(now.resolved);
    else if (now.closed) close("The run ended before anybody answered.");
    else if (!state.overtaken) open();
  }

  function open() {
    root.dataset.state = "open";
    outcome.hidden = true;
    if (form) form.root.hidden = false;
    parts.unfold();
    parts.tick(Date.now());
  }

  async function fetchWhole() {
    try {
      state.args = await ways.whole(asked, apart(asked.args).digest);
    } catch (trouble) {
      say(problem, `The arguments can't be read: ${trouble.message}.`);
      return;
    }
    parts.show(state.args);
    form.lock(false);
  }

  update(asked);
  if (!state.resolved && form && state.args === null) {
    // What nobody has seen, nobody can approve.
    form.lock(true, ["deny", "abort"]);
    fetchWhole();
  }
  return {
    root, update, close,
    tick: () => { if (root.dataset.state === "open") parts.tick(Date.now()); },
    isOpen: () => root.dataset.state === "open",
    isSettled: () => Boolean(state.resolved),
  };
}

/** What is asked and why: in full while it is open, folded away afterwards. */
function facts(asked) {
  const args = el("pre", { tabindex: 0, "aria-label": "Exact arguments" }, apart(asked.args) ? "…" : exact(asked.args));
  const { because, rules } = reasons(asked.rule ?? "");
  const until = asked.expires_at ? el("time", { datetime: asked.expires_at }, moment(asked.expires_at)) : null;
  const rest = el("span", { class: "quiet", "aria-live": "off" });
  const body = el("div", { class: "question-facts" },
    asked.question === "outcome" ? el("p", { class: "question-known" }, IN_DOUBT) : null,
    asked.preview ? el("p", { class: "preview" }, visible(asked.preview)) : null,
    el("dl", null,
      fact("Arguments, exactly", args),
      because.length ? fact("Asked because", ...because.map((line) => el("p", null, line))) : null,
      rules.length ? fact("By the rule", ...rules.map((line) => el("p", null, el("code", null, visible(line))))) : null,
      until ? fact("Open until", until, " ", rest, el("p", { class: "quiet" }, unanswered(asked))) : null));
  const folded = el("details", { class: "question-was", hidden: true }, el("summary", null, "What was asked"));
  return {
    root: el("div", null, body, folded),
    show: (whole) => say(args, exact(whole)),
    tick: (now) => { if (until) say(rest, `(${left(asked.expires_at, now)})`); },
    fold: () => { folded.append(body); folded.hidden = false; },
    unfold: () => { if (!folded.hidden) { folded.before(body); folded.hidden = true; } },
  };
}

function fact(term, ...told) {
  return el("div", null, el("dt", null, term), el("dd", null, ...told));
}

/** The ways to answer; null where there is nothing to choose from. */
function answerForm(asked, id, { send, args }) {
  if (!asked.choices?.length) return null;
  const note = el("textarea", { id: `${id}-note`, rows: 2, maxlength: MAX_NOTE });
  const said = () => (note.value.trim() ? { note: note.value.trim() } : {});
  const buttons = asked.choices.filter((choice) => choice in BUTTONS).map((choice) =>
    el("button", {
      class: BUTTONS[choice].look, type: "button", "data-decision": choice,
      onclick: () => send({ decision: choice, ...said() }),
    }, BUTTONS[choice].label));
  const editor = asked.choices.includes("edit") ? argumentEditor(id, { args, save, leave: () => edit(false) }) : null;
  const change = el("button", { class: "stop", type: "button", "aria-expanded": "false", onclick: () => edit(true) }, "Edit…");
  const grant = el("button", {
    class: "stop grant", type: "button", onclick: () => send({ decision: "approve", grant: true, ...said() }),
  }, "Allow this tool for this run");
  if (editor) buttons.push(change);
  if (asked.choices.includes("approve")) buttons.push(grant);
  const answers = el("div", { class: "answers" }, ...buttons);
  const root = el("div", { class: "answer" },
    el("label", { for: note.id }, "Note for the agent, if you like"), note, answers, editor?.root ?? null);

  function edit(on) {
    answers.hidden = on;
    editor?.open(on);
    if (!on) change.focus();
  }

  function save(edited) {
    send({ decision: "edit", args: edited, ...said() });
  }

  return {
    root,
    /** @param {boolean} on @param {string[]} spared decisions that can be made all the same */
    lock: (on, spared = []) => {
      for (const one of root.querySelectorAll("button")) one.disabled = on && !spared.includes(one.dataset.decision);
      for (const one of root.querySelectorAll("textarea")) one.readOnly = on;
    },
    /** Lead to what is at fault, or back to where one was. @param {string} field @param {any} before */
    blame: (field, before) => {
      if (field === "note") note.focus();
      else if (field?.startsWith("args") && editor) editor.blame();
      else before?.focus();
    },
  };
}

function argumentEditor(id, { args, save, leave }) {
  const problem = el("p", { class: "problem", id: `${id}-args-problem` });
  const text = el("textarea", {
    id: `${id}-args`, class: "code", rows: 8, spellcheck: "false", autocomplete: "off", "aria-describedby": problem.id,
    oninput: () => good(""),
  });
  const root = el("div", { class: "editor", hidden: true, onkeydown: (event) => { if (event.key === "Escape") leave(); } },
    el("label", { for: text.id }, "Arguments of the call that is to be made, as JSON"), text, problem,
    el("div", { class: "answers" },
      el("button", { class: "primary", type: "button", onclick: submit }, "Approve with these"),
      el("button", { class: "stop", type: "button", onclick: leave }, "Back")));

  function good(told) {
    say(problem, told);
    if (told) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
  }

  function submit() {
    const typed = argumentsIn(text.value);
    good(typed.problem);
    if (typed.problem) text.focus();
    else save(typed.args);
  }

  return {
    root,
    open(on) {
      root.hidden = !on;
      good("");
      if (!on) return;
      text.value = exact(args());
      text.focus();
    },
    blame() {
      text.setAttribute("aria-invalid", "true");
      text.focus();
    },
  };
}
