import assert from "node:assert/strict";
import { test } from "node:test";

import { currentStep, fold, NOTHING } from "../../console/fold.js";

const at = (seq) => `2026-11-30T12:00:${String(seq % 60).padStart(2, "0")}.000Z`;
const log = (...told) => told.map(([type, data = {}], seq) => ({ seq, type, at: at(seq), data }));
const folded = (events) => events.reduce(fold, NOTHING);
const said = (text, step = 1, attempt = 1) => ["text.delta", { step, attempt, text }];
const replied = (text, more = {}) =>
  ["model.replied", { step: 1, text, tool_calls: [], usage: { input_tokens: 3, output_tokens: 2, estimated: false }, ...more }];
const OPENING = [["run.accepted", { agent: "demo", text: "Count" }], ["run.started", { attempt: 1 }], ["step.started", { step: 1 }]];

test("a run shows its task, its text and its end", () => {
  const view = folded(log(...OPENING, said("One "), said("two"), replied("One two"), ["run.done", { output: {} }]));
  assert.equal(view.task, "Count");
  assert.equal(currentStep(view).text, "One two");
  assert.equal(currentStep(view).open, false);
  assert.equal(view.status, "done");
  assert.equal(view.tokens, 5);
});

test("the first token is timed once, from the log's own clock", () => {
  const view = folded(log(...OPENING, said("One "), said("two")));
  assert.equal(view.acceptedAt, at(0));
  assert.equal(view.firstTokenAt, at(3));
});

test("the status follows the events", () => {
  const statuses = [];
  log(["run.accepted"], ["run.started"], ["step.started", { step: 1 }], said("a"), ["run.waiting", { for: "provider" }],
    ["run.resumed"], ["run.cancelling"], said("b"), ["run.cancelled", {}])
    .reduce((view, event) => { const next = fold(view, event); statuses.push(next.status); return next; }, NOTHING);
  assert.deepEqual(statuses, ["pending", "running", "running", "streaming", "waiting", "running", "cancelling",
    "cancelling", "cancelled"]);
});

test("an event that comes again changes nothing", () => {
  const events = log(...OPENING, said("One "), said("two"));
  const once = folded(events);
  assert.equal(events.reduce(fold, once), once);
});

test("a reset takes back the text from its seq on and leaves what stood before", () => {
  const events = log(...OPENING, said("kept "), said("dead"), ["run.attempt", { attempt: 2, reason: "lapsed" }],
    ["step.reset", { step: 1, from_seq: 4 }], said("new", 1, 2));
  const step = currentStep(folded(events));
  assert.equal(step.text, "kept new");
  assert.deepEqual(step.notes.map((note) => note.text),
    ["a new worker goes on (attempt 2, lapsed)", "the model call broke off and is made again"]);
});

test("the reply's own text stands, whatever deltas came", () => {
  assert.equal(currentStep(folded(log(...OPENING, said("On"), replied("One two")))).text, "One two");
});

test("a tool call goes from started to finished, and stays one call when it is started again", () => {
  const call = { call_id: "c", name: "clock", args: { zone: "UTC" } };
  const events = log(...OPENING, replied(""), ["tool.started", call], ["tool.progress", { call_id: "c", text: "half" }],
    ["tool.started", call], ["tool.finished", { call_id: "c", ok: true, content: "noon" }]);
  const [only, ...others] = currentStep(folded(events)).calls;
  assert.deepEqual(others, []);
  assert.deepEqual([only.name, only.state, only.ok, only.content], ["clock", "finished", true, "noon"]);
});

test("a call whose outcome nobody knows says so", () => {
  const events = log(...OPENING, ["tool.started", { call_id: "c", name: "pay" }], ["tool.unknown", { call_id: "c" }]);
  assert.equal(currentStep(folded(events)).calls[0].state, "unknown");
});

const ID = "run_1-1-0";
const ASKED = { approval_id: "ap_4", call_id: ID, name: "send", args: { to: "anna" }, question: "call",
  choices: ["approve", "deny", "edit"], digest: "d" };
const resolved = (decision, more = {}) =>
  ["approval.resolved", { approval_id: "ap_4", call_id: ID, decision, by: "key_1", note: null, ...more }];
const ASKING = [...OPENING, replied("", { tool_calls: [{ name: "send", args: { to: "anna" } }] }),
  ["approval.requested", ASKED], ["run.waiting", { for: "approval" }]];
const onlyCall = (view) => { const [call, ...more] = currentStep(view).calls; assert.deepEqual(more, []); return call; };

test("a question stands at its call, open until somebody answers, and the wait for it is no note of its own", () => {
  const view = folded(log(...ASKING));
  const call = onlyCall(view);
  assert.deepEqual([call.state, call.name, call.args], ["asked", "send", { to: "anna" }]);
  assert.deepEqual(call.questions, [{ ...ASKED, resolved: null, closed: false }]);
  assert.deepEqual([view.status, view.waiting.for, view.items.length], ["waiting", "approval", 1]);
  const answered = folded(log(...ASKING, resolved("approve"), ["run.resumed", { attempt: 2 }]));
  assert.equal(onlyCall(answered).questions[0].resolved.by, "key_1");
  assert.deepEqual([answered.status, answered.items.length], ["running", 1]);
});

test("an edited call is made with the editor's arguments and stays one call under the id that was asked for", () => {
  const edited = { call_id: `${ID}e`, args: { to: "bert" } };
  const made = { call_id: `${ID}e`, name: "send", args: { to: "bert" } };
  const view = folded(log(...ASKING, resolved("edit", { edited }), ["tool.started", made],
    ["tool.finished", { call_id: `${ID}e`, name: "send", ok: true, content: "sent" }]));
  const call = onlyCall(view);
  assert.deepEqual([call.call_id, call.args, call.state, call.content], [ID, { to: "bert" }, "finished", "sent"]);
  assert.deepEqual(call.questions[0].args, { to: "anna" });
});

test("a call that was refused is shown with the arguments that the model gave, though it never began", () => {
  const refused = { call_id: ID, name: "send", ok: false, content: "no rule allows it", refused: true };
  const call = onlyCall(folded(log(...ASKING.slice(0, 4), ["tool.finished", refused])));
  assert.deepEqual([call.refused, call.args, call.content, call.startedAt], [true, { to: "anna" }, "no rule allows it", null]);
});

test("an outcome that nobody knew is asked about, and found out later", () => {
  const doubt = ["approval.requested", { ...ASKED, approval_id: "ap_8", question: "outcome" }];
  const lost = [...ASKING, resolved("approve"), ["tool.started", { call_id: ID, name: "send", args: { to: "anna" } }],
    ["tool.unknown", { call_id: ID, name: "send", detail: "It did not come back." }], doubt];
  const asks = onlyCall(folded(log(...lost)));
  assert.deepEqual([asks.state, asks.detail, asks.questions.length], ["unknown", "It did not come back.", 2]);
  const found = onlyCall(folded(log(...lost, resolved("happened", { approval_id: "ap_8" }),
    ["tool.finished", { call_id: ID, name: "send", ok: true, content: "confirmed" }])));
  assert.deepEqual([found.state, found.doubted, found.questions[1].resolved.decision], ["finished", true, "happened"]);
  const again = onlyCall(folded(log(...lost, resolved("retry", { approval_id: "ap_8" }),
    ["tool.started", { call_id: ID, name: "send", args: { to: "anna" } }])));
  assert.deepEqual([again.state, again.endedAt, again.questions.length], ["started", null, 2]);
});

test("a run that ends or is being cancelled asks nothing any more", () => {
  for (const end of [["run.cancelling", {}], ["run.cancelled", {}], ["run.failed", {}]]) {
    assert.equal(onlyCall(folded(log(...ASKING, end))).questions[0].closed, true);
  }
  assert.equal(onlyCall(folded(log(...ASKING, resolved("deny"), ["run.cancelled", {}]))).questions[0].closed, false);
});

test("a call that is answered from outside says by whom", () => {
  const began = { call_id: ID, name: "review", args: {}, answers: "outside", deadline: "2026-12-01T12:00:00Z" };
  const told = { call_id: ID, name: "review", ok: true, content: "fine", by: "key_2" };
  const waits = folded(log(...OPENING, replied(""), ["tool.started", began], ["run.waiting", { for: "tool" }]));
  assert.deepEqual([onlyCall(waits).answers, onlyCall(waits).deadline], ["outside", began.deadline]);
  assert.equal(onlyCall(folded(log(...OPENING, replied(""), ["tool.started", began], ["tool.finished", told]))).by, "key_2");
});

test("a snapshot has what is asked, what was decided and what was refused, and the log goes on from it", () => {
  const call = (index, more) => ({ call_id: `run_1-1-${index}`, name: "send", args: { to: "anna" }, ...more });
  const decision = { approval_id: "ap_5", question: "call", decision: "edit", by: "key_1", note: null, args: { to: "eve" } };
  const calls = [
    call(0, { state: "asked", approval: ASKED }),
    call(1, { call_id: "run_1-1-1e", state: "started", decisions: [decision] }),
    call(2, { state: "finished", ok: false, content: "no", refused: true }),
    call(3, { state: "asked" }),
  ];
  const snapshot = { seq: 40, type: "snapshot", at: at(40),
    data: { status: "waiting", waiting: { for: "approval" }, steps: [{ step: 1, text: "", open: false, calls }] } };
  const then = [["approval.resolved", { approval_id: "ap_4", call_id: ID, decision: "deny", by: "key_9", note: null }],
    ["tool.finished", { call_id: "run_1-1-1e", name: "send", ok: true, content: "sent" }]]
    .map(([type, data], index) => ({ seq: 41 + index, type, at: at(41 + index), data }));
  const before = currentStep(fold(NOTHING, snapshot)).calls;
  assert.deepEqual(before.map((one) => one.questions.length), [1, 1, 0]);
  assert.deepEqual([before[1].questions[0].args, before[1].args, before[2].refused], [{ to: "eve" }, { to: "anna" }, true]);
  const after = currentStep([snapshot, ...then].reduce(fold, NOTHING)).calls;
  assert.deepEqual([after[0].questions[0].resolved.by, after[1].state, after.length], ["key_9", "finished", 3]);
});

test("a snapshot replaces what was known, and deltas go on from it", () => {
  const snapshot = { seq: 40, type: "snapshot", at: at(40), data: {
    status: "streaming", messages: [{ seq: 0, text: "Count" }], waiting: null, end: null,
    steps: [{ step: 1, text: "One", open: false, calls: [{ call_id: "c", name: "clock", args: {}, state: "finished",
      ok: true, content: "noon", cut: false }] }, { step: 2, text: "Tw", open: true, calls: [] }],
    totals: { input_tokens: 4, output_tokens: 1, estimated: true } } };
  const after = { seq: 41, type: "text.delta", at: at(41), data: { step: 2, text: "o" } };
  const view = [snapshot, after].reduce(fold, folded(log(...OPENING, said("lost"))));
  assert.deepEqual(view.items.map((item) => item.text), ["One", "Two"]);
  assert.equal(view.items[0].calls[0].content, "noon");
  assert.deepEqual([view.seq, view.status, view.tokens, view.estimated], [41, "streaming", 5, true]);
});

test("a reset after a snapshot voids the open step that the snapshot had", () => {
  const snapshot = { seq: 40, type: "snapshot", at: at(40), data: { status: "streaming", steps: [
    { step: 1, text: "dead", open: true, calls: [] }] } };
  const reset = { seq: 41, type: "step.reset", at: at(41), data: { step: 1, from_seq: 12 } };
  assert.equal(currentStep([snapshot, reset].reduce(fold, NOTHING)).text, "");
});

test("a snapshot of a run that has ended ends it", () => {
  const end = { type: "run.failed", data: { error: { code: "crash_loop" } } };
  const view = fold(NOTHING, { seq: 9, type: "snapshot", at: at(9), data: { status: "failed", steps: [], end } });
  assert.equal(view.status, "failed");
  assert.equal(view.end.data.error.code, "crash_loop");
});

test("a type that is not known says nothing and still counts", () => {
  const view = folded(log(["run.accepted"], ["run.rejoiced", {}]));
  assert.deepEqual([view.seq, view.status], [1, "pending"]);
});

test("what is kept apart from its event is named by its size, and a text that streamed stays", () => {
  const apart = { payload: { digest: "d".repeat(64), bytes: 40000 } };
  const call = { call_id: "c", name: "look", args: {} };
  const view = folded(log(...OPENING, said("all of it"), replied(apart, { tool_calls: [call] }), ["tool.started", call],
    ["tool.finished", { call_id: "c", ok: true, content: apart }]));
  assert.equal(currentStep(view).text, "all of it");
  assert.equal(currentStep(view).calls[0].content, "40000 bytes, kept apart");
});
