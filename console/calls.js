/** The tool calls of a step: each as a row that opens, with what people were asked about it below. */

import { exact, moment } from "./asking.js";
import { el, say } from "./dom.js";
import { questionCard } from "./question.js";
import { between, short } from "./words.js";

/** @param {import("./question.js").Ways} ways */
export function callItem(ways) {
  const name = el("code", { class: "call-name" });
  const args = el("code", { class: "call-args" });
  const state = el("span", { class: "call-state" });
  const took = el("span", { class: "quiet" });
  const asked = el("pre", { tabindex: 0 });
  const said = el("pre", { tabindex: 0 });
  const body = el("div", { class: "call-body" }, el("h3", null, "asked"), asked, el("h3", null, "answered"), said);
  const row = el("details", { class: "call" }, el("summary", null, name, args, state, took), body);
  const root = el("div", { class: "call-and-questions" }, row);
  /** @type {Map<string, any>} */
  const cards = new Map();

  function update(call) {
    const told = outcome(call);
    row.dataset.state = told;
    say(name, call.name);
    say(args, short(JSON.stringify(call.args ?? {}), 60));
    say(state, told);
    say(took, between(call.startedAt, call.endedAt) ?? "");
    say(asked, exact(call.args));
    say(said, answer(call));
    for (const question of call.questions) showQuestion(question);
  }

  function showQuestion(question) {
    const key = question.approval_id;
    if (!cards.has(key)) {
      cards.set(key, questionCard(question, ways));
      root.append(cards.get(key).root);
    }
    cards.get(key).update(question);
  }

  return { root, update, tick: () => { for (const card of cards.values()) card.tick(); } };
}

const UNMADE = { deny: "denied", expired: "not answered", abort: "did not happen", happened: "happened" };

/** How the call stands, in a word or three. */
export function outcome(call) {
  if (call.state === "asked" && call.questions.length) return call.questions.at(-1).resolved ? "answered" : "asks";
  if (call.state === "started" && call.answers === "outside") return "awaited";
  if (call.state !== "finished") return call.state;
  if (call.refused) return "refused";
  const last = call.questions.at(-1)?.resolved?.decision;
  if (!call.startedAt && !call.ok && last in UNMADE) return UNMADE[last];
  if (call.doubted && last in UNMADE) return UNMADE[last];
  return call.ok ? "finished" : "finished, not ok";
}

function answer(call) {
  if (call.state === "unknown") return `Nobody knows how this call ended.${call.detail ? ` ${call.detail}` : ""}`;
  if (call.state === "started" && call.answers === "outside") {
    return `Somebody outside answers this call${call.deadline ? `, until ${moment(call.deadline)}` : ""}.`;
  }
  if (call.content === null) return "nothing yet";
  return `${call.content}${call.cut ? "…" : ""}${call.by ? `\n\nfrom ${call.by}` : ""}`;
}
