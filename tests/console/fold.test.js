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
