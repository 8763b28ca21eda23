import assert from "node:assert/strict";
import { test } from "node:test";

import { apart, argumentsIn, decided, exact, heading, left, reasons, unanswered, visible } from "../../console/asking.js";

test("a question says what it is about", () => {
  assert.equal(heading({ question: "call", name: "send" }).join(""), "May send be called?");
  assert.equal(heading({ question: "outcome", name: "send" }).join(""), "Did send happen?");
});

test("why it is asked is told apart from the rules that it follows from", () => {
  assert.deepEqual(reasons("allow send\nallow *\nasked about: nobody can take it back"),
    { because: ["nobody can take it back"], rules: ["allow send", "allow *"] });
  assert.deepEqual(reasons(""), { because: [], rules: [] });
});

test("the time that is left is put in whole minutes until the last one", () => {
  const now = Date.parse("2026-11-30T12:00:00Z");
  assert.equal(left("2026-12-01T11:59:30Z", now), "in 23 h 59 min");
  assert.equal(left("2026-11-30T12:05:59Z", now), "in 5 min");
  assert.equal(left("2026-11-30T12:00:30Z", now), "in 30.0 s");
  assert.equal(left("2026-11-30T12:00:00Z", now), "that time has passed");
});

test("what becomes of a question that nobody answers is said before", () => {
  assert.equal(unanswered({ question: "call", on_expiry: "deny" }), "If nobody answers, the call is denied.");
  assert.equal(unanswered({ question: "call", on_expiry: "fail" }), "If nobody answers, the run fails.");
  assert.equal(unanswered({ question: "outcome", on_expiry: "deny" }),
    "If nobody answers, the agent is told that nobody knows.");
});

test("a decision says who made it, and a newer server's is no riddle", () => {
  const by = "key_1";
  assert.equal(decided({ decision: "approve", by, note: null }), "Approved by key_1.");
  assert.equal(decided({ decision: "approve", by, note: null, grant: { tool: "send" } }),
    "Approved by key_1, and further calls of the tool in this run.");
  assert.equal(decided({ decision: "deny", by, note: "wrong address" }), "Denied by key_1: wrong address");
  assert.equal(decided({ decision: "expired", by: "clock", note: null }), "Nobody answered in time.");
  assert.equal(decided({ decision: "constructor", by, note: null }), "constructor, by key_1.");
});

test("nothing hides in what is shown of a call", () => {
  assert.equal(visible("anna\u202e@moc\u200b\nnext"), "anna\\u202e@moc\\u200b\nnext");
  const args = { to: "a\u2066b\u{e0041}" };
  assert.ok(!/\p{Cf}/u.test(exact(args)));
  assert.deepEqual(JSON.parse(exact(args)), args);
});

test("what was typed as arguments is an object or a problem in words", () => {
  assert.deepEqual(argumentsIn('{"to": "bert"}'), { args: { to: "bert" }, problem: "" });
  assert.match(argumentsIn('{"to": ').problem, /^This is no JSON: /);
  for (const odd of ["[1]", "null", '"x"', "3"]) assert.equal(argumentsIn(odd).problem, "Arguments are a JSON object, in braces.");
});

test("only what has the form of a reference counts as kept apart", () => {
  assert.equal(apart({ payload: { digest: "d", bytes: 3 } }).digest, "d");
  for (const odd of [{ payload: { digest: "d", bytes: 3 }, to: "eve" }, { payload: { digest: "d" } }, { payload: "x" }, {}, null]) {
    assert.equal(apart(odd), null);
  }
});
