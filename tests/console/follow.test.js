import assert from "node:assert/strict";
import { test } from "node:test";

import { follow, START, Trouble, unbroken } from "../../console/follow.js";
import { polling } from "../../console/sources.js";

const TYPES = ["run.accepted", "run.started", "step.started"];
const event = (seq, type = TYPES[seq] ?? "text.delta") => ({ seq, type, at: "", data: {} });
const LOG = [...Array(9).keys()].map((seq) => event(seq)).concat(event(9, "run.done"));
const seqs = (events) => events.map(({ seq }) => seq);
const ALL = seqs(LOG);

/** A server with a log, of which `visible` events are there, and troubles that it will have. */
function server({ visible = LOG.length, limit = 3, troubles = [] } = {}) {
  const state = { visible, asked: [] };
  const read = async (since, wait) => {
    state.asked.push({ since, wait });
    const trouble = troubles.shift();
    if (trouble) throw trouble;
    const events = LOG.slice(0, state.visible).slice(since + 1).slice(0, limit);
    const next_since = events.at(-1)?.seq ?? since;
    const has_more = next_since < state.visible - 1;
    return { events, next_since, has_more, done: next_since === LOG.length - 1, next_poll_ms: has_more ? 0 : 250 };
  };
  return Object.assign(state, { read });
}

async function followed(needs) {
  const got = [];
  const notices = [];
  const slept = [];
  const pause = async (ms) => { slept.push(ms); };
  const all = { pause, notice: (news) => notices.push(news), chance: () => 0, ...needs };
  for await (const one of follow(all)) got.push(one);
  return { got, notices, slept };
}

const gone = () => new Trouble("gone", { transient: true });
async function* nothing() {}

test("polling delivers each event once and in order, and stops at the end", async () => {
  const { read, asked } = server();
  const { got } = await followed({ read, listen: polling(read, async () => {}) });
  assert.deepEqual(seqs(got), ALL);
  assert.deepEqual(asked.map(({ since }) => since), [START, 2, 5, 8]);
});

test("an empty answer is waited for by the server, one with events is not", async () => {
  const state = server({ visible: 3 });
  const listen = polling(state.read, async () => { state.visible = Math.min(LOG.length, state.visible + 1); });
  await followed({ read: state.read, listen });
  const [catchUp, ...polls] = state.asked.map(({ wait }) => wait);
  assert.deepEqual([catchUp, ...new Set(polls)], [0, 20, 0]);
});

test("trouble that passes is told of with the cursor, and what follows goes on from there", async () => {
  const state = server({ limit: 5, troubles: [null, gone(), gone()] });
  const { got, notices } = await followed({ read: state.read, listen: polling(state.read, async () => {}) });
  assert.deepEqual(seqs(got), ALL);
  const lost = notices.filter(({ kind }) => kind === "lost");
  assert.deepEqual(lost.map(({ since, tries }) => [since, tries]), [[4, 1], [4, 2]]);
  assert.equal(notices.at(-1).kind, "live");
});

test("the back-off grows, has an end, and is never shorter than the server asks", async () => {
  const troubles = [...Array(9)].map(gone).concat(new Trouble("slow down", { transient: true, retryAfter: 60_000 }));
  const state = server({ troubles });
  const { slept } = await followed({ read: state.read, listen: polling(state.read, async () => {}) });
  assert.deepEqual(slept.slice(0, 4), [250, 500, 1000, 2000]);
  assert.equal(Math.max(...slept.slice(0, 9)), 5_000);
  assert.equal(slept[9], 60_000);
});

test("trouble that waiting does not mend ends it", async () => {
  const state = server({ troubles: [new Trouble("there is no such run", { status: 404 })] });
  await assert.rejects(followed({ read: state.read, listen: nothing }), /no such run/);
});

test("a stream that repeats what was seen doubles nothing", async () => {
  const state = server({ visible: 4, limit: 100 });
  const listen = async function* () { for (const one of LOG) yield { events: [one], done: one.seq === 9 }; };
  assert.deepEqual(seqs((await followed({ read: state.read, listen })).got), ALL);
});

test("a hole in a stream is filled by a read", async () => {
  const state = server({ visible: 4, limit: 100 });
  const listen = async function* () { state.visible = 10; yield { events: [event(6)], done: false }; };
  assert.deepEqual(seqs((await followed({ read: state.read, listen })).got), ALL);
});

test("a hole is filled at once, and not when the stream ends", { timeout: 5_000 }, async () => {
  const state = server({ visible: 4, limit: 100 });
  const listen = async function* () {
    state.visible = 10;
    yield { events: [event(6)], done: false };
    await new Promise(() => {});
  };
  assert.deepEqual(seqs((await followed({ read: state.read, listen })).got), ALL);
});

test("a stream that closes is opened again from the cursor", async () => {
  const state = server({ visible: 4, limit: 100 });
  const opened = [];
  const listen = async function* (since) {
    opened.push(since);
    yield { events: [LOG[since + 1]], done: since + 1 === 9 };
    state.visible = since + 2;
  };
  assert.deepEqual(seqs((await followed({ read: state.read, listen })).got), ALL);
  assert.deepEqual(opened, [3, 4, 5, 6, 7, 8]);
});

test("a stream that is there already is read first, and what it lacks afterwards", async () => {
  const state = server({ limit: 100 });
  const opened = (async function* () { yield { events: LOG.slice(0, 3), done: false }; throw gone(); })();
  const { got } = await followed({ read: state.read, listen: nothing, opened });
  assert.deepEqual(seqs(got), ALL);
  assert.deepEqual(state.asked, [{ since: 2, wait: 0 }]);
});

test("a hole that stays is an error and not an endless loop", async () => {
  const read = async () => ({ events: [event(5)], next_since: 5, has_more: false, done: false, next_poll_ms: 0 });
  await assert.rejects(followed({ read, listen: nothing }), /hole after event -1/);
});

test("a snapshot stands for all events up to its own", () => {
  const snapshot = { ...event(7, "snapshot") };
  assert.deepEqual(seqs(unbroken([snapshot, event(8), event(8), event(10)], 2)), [7, 8]);
  assert.deepEqual(unbroken([snapshot], 7), []);
});

test("whoever stops following gets nothing more", async () => {
  const stop = new AbortController();
  const { read } = server();
  const got = [];
  const needs = { read, listen: nothing, pause: async () => {}, signal: stop.signal };
  for await (const one of follow(needs)) { got.push(one); if (one.seq === 2) stop.abort(); }
  assert.deepEqual(seqs(got), [0, 1, 2]);
});
