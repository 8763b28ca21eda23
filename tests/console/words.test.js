import assert from "node:assert/strict";
import { test } from "node:test";

import { NOTHING } from "../../console/fold.js";
import { blocksOf, openBlocksOf, spansOf } from "../../console/markdown.js";
import { ago, between, connection, doing, duration, ending, short } from "../../console/words.js";

test("durations are put as people read them", () => {
  assert.deepEqual([0, 999, 1000, 59_949, 61_000, 3_700_000].map(duration),
    ["0 ms", "999 ms", "1.0 s", "59.9 s", "1 min 1 s", "1 h 1 min"]);
  assert.equal(between(null, "2026-11-30T12:00:00Z"), null);
  assert.equal(between("2026-11-30T12:00:01Z", "2026-11-30T12:00:00Z"), "0 ms");
});

test("a lost connection says from which event it goes on", () => {
  assert.equal(connection({ kind: "lost", since: 41, tries: 2 }, "polling"), "reconnecting, from event 41 (try 2)");
  assert.equal(connection({ kind: "lost", since: -1, tries: 1 }, "polling"), "reconnecting, from the start (try 1)");
  assert.equal(connection({ kind: "live" }, "EventSource"), "following by EventSource");
});

test("a run that is quiet says what it waits for, and one that speaks says nothing", () => {
  const step = { open: true, text: "", calls: [] };
  const view = { ...NOTHING, status: "running" };
  assert.equal(doing({ ...NOTHING }, undefined), "waiting for a worker");
  assert.equal(doing(view, step), "waiting for the first token");
  assert.equal(doing({ ...view, firstTokenAt: "x" }, step), "thinking");
  assert.equal(doing(view, { ...step, text: "Hello" }), null);
  assert.equal(doing(view, { ...step, calls: [{ state: "started", name: "clock", progress: null }] }), "clock is at work");
  assert.equal(doing({ ...view, status: "waiting", waiting: { for: "provider" } }, step), "waiting for provider");
  assert.equal(doing({ ...view, status: "waiting", waiting: { for: "approval" } }, step), "waiting for a person's answer");
  assert.equal(doing({ ...view, status: "waiting", waiting: { for: "tool" } }, step), "waiting for an answer from outside");
  const inLine = "in line: as many runs are at work as the account may have";
  assert.equal(doing({ ...view, status: "waiting", waiting: { for: "slot" } }, step), inLine);
});

test("an end says why", () => {
  assert.equal(ending({ type: "run.failed", data: { error: { code: "crash_loop", detail: "three starts" } } }),
    "It failed: crash_loop, three starts.");
  assert.equal(ending({ type: "run.cancelled", data: { actor: "key_1", reason: null, latency_ms: 310 } }),
    "Cancelled by key_1. The worker stopped within 310 ms.");
});

test("long texts are cut to one line, and times to how long ago they were", () => {
  assert.equal(short("a\n b  c", 9), "a b c");
  assert.equal(short("abcdefghij", 5), "abcd…");
  assert.equal(ago("2026-11-30T12:00:00Z", Date.parse("2026-11-30T12:05:30Z")), "5 min ago");
});

test("the little Markdown that models write becomes blocks", () => {
  const text = "# Head\nOne\ntwo\n\n- a\n- b\n\n3. c\n\n| x | y |\n|---|---|\n| 1 | 2 |\n```\ncode | here\n```\nend";
  assert.deepEqual(blocksOf(text), [
    { kind: "heading", level: 1, text: "Head" }, { kind: "p", text: "One\ntwo" }, { kind: "ul", items: ["a", "b"] },
    { kind: "ol", first: 3, items: ["c"] }, { kind: "table", rows: [["x", "y"], ["1", "2"]] },
    { kind: "code", text: "code | here" }, { kind: "p", text: "end" },
  ]);
});

test("text that is still being written is read as far as it goes", () => {
  const whole = "## A head\n\nSome **bold** text\n\n| a | b |\n|---|---|\n| 1 |\n```js\nlet x";
  for (let end = 0; end <= whole.length; end += 1) assert.ok(Array.isArray(blocksOf(whole.slice(0, end))));
  assert.deepEqual(blocksOf("```\nopen"), [{ kind: "code", text: "open" }]);
});

test("bold words are bold while they are being written", () => {
  const texts = ["a **", "a **b", "a **b c** d"].map((text) => openBlocksOf(text)[0].text);
  assert.deepEqual(texts, ["a ", "a **b**", "a **b c** d"]);
  assert.equal(openBlocksOf("```\n2 ** 3")[0].text, "2 ** 3");
});

test("spans are marked, and what is not closed stays as it was written", () => {
  assert.deepEqual(spansOf("a **b** `c*` *d* **e"), [
    { kind: "text", text: "a " }, { kind: "strong", text: "b" }, { kind: "text", text: " " },
    { kind: "code", text: "c*" }, { kind: "text", text: " " }, { kind: "em", text: "d" }, { kind: "text", text: " **e" },
  ]);
});
