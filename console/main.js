/** The console: what is on the page, put together. */

import { eventsUrl, makeApi, socketUrl } from "./api.js";
import { byId, el, say } from "./dom.js";
import { inbox } from "./inbox.js";
import { EVENT_SOURCE, FETCH, offers, POLL, WEBSOCKET } from "./offers.js";
import { runView } from "./run.js";
import { runList } from "./runs.js";
import { webSocket } from "./socket.js";
import { eventSource, fetched, orElse, pagesOf, polling } from "./sources.js";
import { startForm } from "./start.js";
import { tabs } from "./tabs.js";
import { asking } from "./title.js";

const CHOICE = "pawl.transport";
const RUN_ID = /^#(run_[0-9a-z]+)$/;
const INBOX = "#approvals";
/** Milliseconds between two looks at the lists, while somebody sees them. */
const LIST_EVERY = 10_000;

const api = makeApi();
const run = runView({ ways, cancel: api.cancel, decide, payload: api.payload, pause, onStatus });
const list = runList({ list: byId("runs"), more: byId("more"), state: byId("runs-state") }, api.runs);
const questions = inbox({ list: byId("questions"), state: byId("questions-state"), onCount }, {
  load: api.approvals,
  decide: (asked, verdict) => decide(asked.run_id, asked.approval_id, verdict),
  whole: (asked, digest) => api.payload(asked.run_id, digest),
});
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

/** Whatever came of it, what is open is not what it was. */
async function decide(runId, approvalId, verdict) {
  try {
    return await api.decide(runId, approvalId, verdict);
  } finally {
    questions.refresh();
  }
}

function onStatus(runId, status) {
  list.update(runId, status);
  questions.refresh();
}

function onCount(open, more) {
  const count = open ? `${open}${more ? "+" : ""}` : "";
  say(byId("inbox-count"), count);
  byId("inbox-link").classList.toggle("asking", open > 0);
  asking(count);
}

function refresh() {
  if (document.hidden) return;
  list.refresh();
  questions.refresh();
}

function route() {
  const [, runId] = RUN_ID.exec(window.location.hash) ?? [];
  const view = runId ? "run" : window.location.hash === INBOX ? "inbox" : "runs";
  document.body.dataset.view = view;
  byId("run").hidden = view !== "run";
  byId("inbox").hidden = view !== "inbox";
  byId("nothing").hidden = view !== "runs";
  if (view === "inbox") byId("inbox-link").setAttribute("aria-current", "page");
  else byId("inbox-link").removeAttribute("aria-current");
  list.mark(runId ?? null);
  if (!runId) run.close();
  if (view === "inbox") openInbox();
  if (!runId) return;
  run.open(runId, streaming?.runId === runId ? streaming : null);
  streaming = null;
  byId("task").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function openInbox() {
  questions.tidy();
  questions.refresh();
  byId("inbox-head").focus({ preventScroll: true });
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
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, LIST_EVERY);
setInterval(() => { run.draw(); questions.tick(); }, 1000);

await offer();
route();
form.fill();
refresh();
