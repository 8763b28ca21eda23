/** The console: what is on the page, put together. */

import { eventsUrl, makeApi, socketUrl } from "./api.js";
import { byId, el } from "./dom.js";
import { EVENT_SOURCE, FETCH, offers, POLL, WEBSOCKET } from "./offers.js";
import { runView } from "./run.js";
import { runList } from "./runs.js";
import { webSocket } from "./socket.js";
import { eventSource, fetched, orElse, pagesOf, polling } from "./sources.js";
import { startForm } from "./start.js";
import { tabs } from "./tabs.js";

const CHOICE = "pawl.transport";
const RUN_ID = /^#(run_[0-9a-z]+)$/;
/** Milliseconds between two looks at the list, while somebody sees it. */
const LIST_EVERY = 10_000;

const api = makeApi();
const run = runView({ ways, cancel: api.cancel, pause, onStatus });
const list = runList({ list: byId("runs"), more: byId("more"), state: byId("runs-state") }, api.runs);
const form = startForm(api.agents, start);
let offered = { transports: [POLL], streamsStart: false };
/** @type {{runId: string, pages: any, stop: AbortController}|null} a run that was started with its log streaming */
let streaming = null;

function chosen() {
  return offered.transports.find((one) => one.id === byId("transport").value) ?? POLL;
}

function ways(runId, signal, told) {
  const read = api.read(runId, signal);
  const poll = polling(read, (ms) => pause(ms, signal));
  const { id, label } = chosen();
  const listen = {
    [POLL.id]: () => poll,
    [EVENT_SOURCE.id]: () => eventSource(eventsUrl(runId), signal),
    [FETCH.id]: () => fetched(api.stream(runId), signal),
    [WEBSOCKET.id]: () => webSocket(runId, { ticket: api.ticket(runId), url: socketUrl, signal }),
  }[id]();
  return { read, listen: orElse(listen, poll, () => told(POLL.label)), label };
}

/** Sleep; a network that comes back, or an end of it all, ends the sleep. */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}

async function start(task, key) {
  const stop = new AbortController();
  const { runId, stream } = await api.start(task, key, chosen() === FETCH && offered.streamsStart, stop.signal);
  streaming = stream ? { runId, pages: pagesOf(stream), stop } : null;
  window.location.hash = runId;
  list.refresh();
}

function onStatus(runId, status) {
  list.update(runId, status);
}

function route() {
  const [, runId] = RUN_ID.exec(window.location.hash) ?? [];
  document.body.dataset.view = runId ? "run" : "runs";
  byId("run").hidden = !runId;
  byId("nothing").hidden = Boolean(runId);
  list.mark(runId ?? null);
  if (!runId) return run.close();
  run.open(runId, streaming?.runId === runId ? streaming : null);
  streaming = null;
  byId("task").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

async function offer() {
  try {
    offered = offers(await api.contract());
  } catch {
    return; // Polling is what there always is.
  }
  const select = byId("transport");
  select.replaceChildren(...offered.transports.map(({ id, label }) => el("option", { value: id }, label)));
  select.value = localStorage.getItem(CHOICE) ?? POLL.id;
  if (!select.value) select.value = POLL.id;
  byId("transport-field").hidden = offered.transports.length < 2;
}

byId("transport").addEventListener("change", () => {
  localStorage.setItem(CHOICE, chosen().id);
  run.reopen();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
tabs(byId("tabs"), run.draw);
window.addEventListener("hashchange", route);
document.addEventListener("visibilitychange", () => { if (!document.hidden) list.refresh(); });
setInterval(() => { if (!document.hidden) list.refresh(); }, LIST_EVERY);
setInterval(run.draw, 1000);

await offer();
route();
form.fill();
list.refresh();
