import assert from "node:assert/strict";
import { test } from "node:test";

import { webSocket } from "../../console/socket.js";

const RUN = "run_1";

class FakeSocket {
  static OPEN = 1;
  readyState = 0;
  sent = [];
  constructor(url) { this.url = url; FakeSocket.made.push(this); }
  send(text) { this.sent.push(JSON.parse(text)); }
  close() { this.readyState = 3; this.closed = true; }
  open() { this.readyState = 1; this.onopen(); }
  tell(frame) { this.onmessage({ data: JSON.stringify(frame) }); }
  breakOff() { this.readyState = 3; this.onclose(); }
}

async function opened(since = 4) {
  FakeSocket.made = [];
  const stop = new AbortController();
  let tickets = 0;
  const ticket = async () => ({ ticket: `t${++tickets}`, expires_in: 300 });
  const listen = webSocket(RUN, { ticket, url: (sent) => `/socket?ticket=${sent}`, signal: stop.signal, Socket: FakeSocket });
  const pages = listen(since);
  const first = pages.next();
  await Promise.resolve();
  await Promise.resolve();
  return { pages, first, stop, socket: FakeSocket.made[0] };
}

const events = (seqs, done = false) =>
  ({ type: "events", run_id: RUN, done, events: seqs.map((seq) => ({ seq, type: "text.delta", data: {} })) });
const seqs = ({ value }) => value.events.map(({ seq }) => seq);

test("a socket is opened with a ticket and subscribes from the cursor", async () => {
  const { pages, first, socket } = await opened();
  assert.equal(socket.url, "/socket?ticket=t1");
  assert.deepEqual(socket.sent, []);
  socket.open();
  assert.deepEqual(socket.sent, [{ action: "subscribe", run_id: RUN, since: 4 }]);
  socket.tell({ type: "subscribed", run_id: RUN, since: 4 });
  socket.tell(events([5, 6], true));
  const page = await first;
  assert.deepEqual(seqs(page), [5, 6]);
  assert.ok(page.value.done);
  await pages.return();
  assert.ok(socket.closed);
});

test("an event that came in parts is put together, whatever their order", async () => {
  const { pages, first, socket } = await opened();
  socket.open();
  const text = JSON.stringify(events([5]));
  const parts = [text.slice(0, 9), text.slice(9, 20), text.slice(20)];
  for (const part of [2, 0, 0, 1]) {
    socket.tell({ type: "part", run_id: RUN, seq: 5, parts: 3, part, text: parts[part] });
  }
  assert.deepEqual(seqs(await first), [5]);
  await pages.return();
});

test("it pings soon and then every ten seconds, and gives up when nothing answers", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { first, socket } = await opened();
  socket.open();
  const pings = () => socket.sent.filter(({ action }) => action === "ping").length;
  context.mock.timers.tick(2_000);
  assert.equal(pings(), 1);
  for (let round = 0; round < 3; round += 1) {
    context.mock.timers.tick(10_000);
    socket.tell({ type: "pong" });
  }
  assert.equal(pings(), 4);
  context.mock.timers.tick(35_000);
  await assert.rejects(first, { transient: true });
});

test("it ends before its ticket does, without trouble", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { first, socket } = await opened();
  socket.open();
  for (let passed = 0; passed < 270_000; passed += 10_000) {
    context.mock.timers.tick(10_000);
    socket.tell({ type: "pong" });
  }
  assert.ok((await first).done);
  assert.ok(socket.closed);
});

test("one that breaks off is trouble that passes, and one that never opened is refused", async () => {
  const broken = await opened();
  broken.socket.open();
  broken.socket.breakOff();
  await assert.rejects(broken.first, { transient: true });
  const turnedAway = await opened();
  turnedAway.socket.breakOff();
  await assert.rejects(turnedAway.first, { code: "no_stream" });
});

test("a problem is told as the server tells it, and an expired ticket passes", async () => {
  for (const [code, status, transient] of [["run_not_found", 404, false], ["ticket_expired", 401, true], ["unavailable", 503, true]]) {
    const { first, socket } = await opened();
    socket.open();
    socket.tell({ type: "problem", action: "subscribe", problem: { code, status, detail: "so it is" } });
    await assert.rejects(first, { message: "so it is", code, status, transient });
  }
});

test("whoever stops following closes the socket", async () => {
  const { first, stop, socket } = await opened();
  socket.open();
  stop.abort();
  assert.ok((await first).done);
  assert.ok(socket.closed);
});
