/** How a question to a person is put, and what was answered. Pure.
 *
 * @typedef {{decision: string, by: string, note: string|null, grant?: any, edited?: any, at: string|null}} Resolved
 * @typedef {{approval_id: string, call_id: string, name: string, args: any, digest: string, question: string,
 *   choices: string[], rule: string, preview: string, expires_at: string, on_expiry: string,
 *   resolved: Resolved|null, closed: boolean}} Question
 */

import { duration } from "./words.js";

/** How the server begins a line of a question's `rule` that is a reason; the others are rules. */
const WHY = "asked about: ";
/** Characters that show nothing, or turn around what stands beside them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** @param {Question} asked @returns {[string, string, string]} the words before the tool's name, the name, those after it */
export function heading({ question, name }) {
  if (question === "outcome") return ["Did ", name, " happen?"];
  return ["May ", name, " be called?"];
}

/** @param {string} rule @returns {{because: string[], rules: string[]}} */
export function reasons(rule) {
  const lines = rule.split("\n").filter(Boolean);
  return {
    because: lines.filter((line) => line.startsWith(WHY)).map((line) => line.slice(WHY.length)),
    rules: lines.filter((line) => !line.startsWith(WHY)),
  };
}

/** A moment, so that nobody has to guess the day or the zone. @param {string} at */
export function moment(at) {
  return new Date(at).toLocaleString(undefined, {
    weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
    timeZoneName: "short",
  });
}

/** @param {string} at @param {number} now */
export function left(at, now) {
  const ms = new Date(at).getTime() - now;
  return ms > 0 ? `in ${duration(ms < 60_000 ? ms : ms - (ms % 60_000)).replace(/ 0 s$/, "")}` : "that time has passed";
}

/** @param {Question} asked */
export function unanswered({ question, on_expiry }) {
  if (on_expiry === "fail") return "If nobody answers, the run fails.";
  return question === "outcome"
    ? "If nobody answers, the agent is told that nobody knows."
    : "If nobody answers, the call is denied.";
}

const DECIDED = {
  approve: (by) => `Approved by ${by}`,
  deny: (by) => `Denied by ${by}`,
  edit: (by) => `Approved with other arguments by ${by}`,
  happened: (by) => `It happened, says ${by}`,
  retry: (by) => `It did not happen and is made again, says ${by}`,
  abort: (by) => `It did not happen and is not made again, says ${by}`,
  expired: () => "Nobody answered in time",
};

/** @param {Resolved} resolved */
export function decided({ decision, by, note, grant }) {
  const said = Object.hasOwn(DECIDED, decision) ? DECIDED[decision](by) : `${decision}, by ${by}`;
  const further = grant ? ", and further calls of the tool in this run" : "";
  return `${said}${further}${note ? `: ${note}` : "."}`;
}

/** Arguments as they are, to the last character. @param {any} args */
export function exact(args) {
  return visible(JSON.stringify(args ?? {}, null, 2));
}

/** A text in which nothing can hide, nor turn around what stands beside it. @param {string} text */
export function visible(text) {
  return text.replace(UNSEEN, (one) => (one === "\n" ? one : escaped(one)));
}

function escaped(character) {
  return character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

/** What somebody typed as arguments. @param {string} text @returns {{args: any, problem: string}} */
export function argumentsIn(text) {
  let args;
  try {
    args = JSON.parse(text);
  } catch (fault) {
    return { args: null, problem: `This is no JSON: ${fault.message}.` };
  }
  const good = typeof args === "object" && args !== null && !Array.isArray(args);
  return good ? { args, problem: "" } : { args: null, problem: "Arguments are a JSON object, in braces." };
}

/** What stands in the place of a field that is too large for its event. @param {any} value */
export function apart(value) {
  const kept = value?.payload;
  const keys = (one) => Object.keys(one ?? {}).sort().join();
  return kept && typeof kept === "object" && keys(value) === "payload" && keys(kept) === "bytes,digest" ? kept : null;
}
