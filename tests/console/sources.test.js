import assert from "node:assert/strict";
import { test } from "node:test";

import { eventSource, orElse, pagesOf, refused } from "../../console/sources.js";
import { blocks } from "../../console/sse.js";

const all = async (pages) => { const got = []; for await (const one of pages) got.push(one); return got; };
const frame = (seq, type, data = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ seq, type, at: "", data })}\nid: ${seq}\n\n`;
const streamOf = (...chunks) => new Response(new Blob(chunks).stream());
const seqs = (pages) => pages.flatMap(({ events }) => events.map(({ seq }) => seq));

class FakeSource {
  static CLOSED = 2;
  readyState = 0;
  listeners = new Map();
  constructor(url) { this.url = url; FakeSource.made.push(this); }
  addEventListener(type, hear) { this.listeners.set(type, hear); }
  tell(seq, type) { this.listeners.get(type)?.({ data: JSON.stringify({ seq, type, data: {} }) }); }
  close() { this.readyState = 2; this.closed = true; }
}

function opened() {
  FakeSource.made = [];
  const stop = new AbortController();
  const pages = eventSource((since) => `/events?since=${since}`, stop.signal, FakeSource)(4);
  const first = pages.next();
  return { pages, first, stop, source: FakeSource.made[0] };
}

test("a stream's events become pages, and its last one says that it is over", async () => {
  const pages = await all(pagesOf(streamOf(frame(0, "run.accepted"), frame(1, "run.done"))));
  assert.deepEqual(seqs(pages), [0, 1]);
  assert.deepEqual(pages.map(({ done }) => done), [false, true]);
});

test("however a stream is cut into chunks, its blocks are the same", async () => {
  const text = `: hello\n\nretry: 5000\n${frame(0, "run.accepted", { text: "Größe" })}${frame(1, "text.delta")}: beat\n\n`;
  for (const form of [text, text.replaceAll("\n", "\r\n")]) {
    const whole = await all(blocks([form]));
    assert.deepEqual(whole.map(({ id, event }) => [id, event]), [["0", "run.accepted"], ["1", "text.delta"]]);
    for (let at = 1; at < form.length; at += 1) {
      assert.deepEqual(await all(blocks([form.slice(0, at), form.slice(at)])), whole);
    }
    assert.deepEqual(await all(blocks([...form])), whole);
  }
});

test("a block that is cut off is not there", async () => {
  assert.deepEqual(seqs(await all(pagesOf(streamOf(frame(0, "run.accepted"), frame(1, "text.delta").slice(0, -1))))), [0]);
});

test("a heartbeat with data and without a seq is no event", async () => {
  assert.deepEqual(seqs(await all(pagesOf(streamOf("data: {}\n\n", frame(0, "run.accepted"))))), [0]);
});

test("EventSource is opened at the cursor and closed by whoever stops reading", async () => {
  const { pages, first, source } = opened();
  assert.equal(source.url, "/events?since=4");
  source.onopen();
  source.tell(5, "text.delta");
  assert.deepEqual((await first).value.events[0].seq, 5);
  await pages.return();
  assert.ok(source.closed);
});

test("an EventSource that reconnects by itself in time is no trouble", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { pages, first, source } = opened();
  source.onopen();
  source.onerror();
  context.mock.timers.tick(1_000);
  source.onerror();
  context.mock.timers.tick(900);
  source.onopen();
  context.mock.timers.tick(10_000);
  source.tell(5, "text.delta");
  assert.deepEqual(seqs([(await first).value]), [5]);
  const second = pages.next();
  await new Promise(setImmediate);
  assert.equal(await Promise.race([second, "nothing yet"]), "nothing yet");
});

test("one that does not come back in time is trouble that passes, however often it tries", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { first, source } = opened();
  source.onopen();
  for (let passed = 0; passed < 2_000; passed += 500) { source.onerror(); context.mock.timers.tick(500); }
  await assert.rejects(first, { transient: true });
});

test("one that the server ends is over, and one that it never let in is refused", async () => {
  const ended = opened();
  ended.source.onopen();
  ended.source.readyState = FakeSource.CLOSED;
  ended.source.onerror();
  assert.ok((await ended.first).done);
  const turnedAway = opened();
  turnedAway.source.readyState = FakeSource.CLOSED;
  turnedAway.source.onerror();
  await assert.rejects(turnedAway.first, { code: "no_stream" });
});

test("where the server does not stream after all, the other way is taken and told of", async () => {
  const told = [];
  const listen = orElse(async function* () { throw refused(); }, async function* (since) { yield since; }, () => told.push(1));
  assert.deepEqual(await all(listen(7)), [7]);
  assert.deepEqual(told, [1]);
});

test("any other trouble is not taken for that", async () => {
  const listen = orElse(async function* () { throw new Error("else"); }, async function* () {}, () => {});
  await assert.rejects(all(listen(7)), /else/);
});
