/** The run that is looked at: its log followed, folded and shown. */

import { byId, rechip, say } from "./dom.js";
import { currentStep, fold, NOTHING } from "./fold.js";
import { follow } from "./follow.js";
import { rawLog } from "./log.js";
import { timeline } from "./timeline.js";
import { titled } from "./title.js";
import { between, connection, short } from "./words.js";

/** Letters of the task that its heading shows. */
const HEADING = 120;

/**
 * @param {{
 *   ways: (runId: string, signal: AbortSignal, told: (label: string) => void) => any,
 *   cancel: (runId: string) => Promise<any>,
 *   decide: (runId: string, approvalId: string, verdict: any) => Promise<any>,
 *   payload: (runId: string, digest: string) => Promise<any>,
 *   pause: (ms: number, signal: AbortSignal) => Promise<void>,
 *   onStatus: (runId: string, status: string) => void,
 * }} needs `ways` gives `read`, `listen` and the `label` of the way out that is chosen
 */
export function runView({ ways, cancel, decide, payload, pause, onStatus }) {
  const steps = timeline(byId("timeline"), {
    decide: (asked, verdict) => decide(state.runId, asked.approval_id, verdict),
    whole: (asked, digest) => payload(state.runId, digest),
  });
  const log = rawLog(byId("log"));
  const state = { runId: "", view: NOTHING, news: null, by: "", problem: "", stop: new AbortController() };
  let drawn = 0;

  /** @param {string} runId
   * @param {{pages: any, stop: AbortController}|null} opened its log, if it is streaming already */
  function open(runId, opened = null) {
    close();
    Object.assign(state, { runId, view: NOTHING });
    steps.clear();
    log.clear();
    say(byId("run-id"), runId);
    watch(opened);
  }

  function close() {
    state.stop.abort();
    state.runId = "";
    titled("Pawl");
  }

  /** Go on from the cursor, by the way out that is chosen now. */
  function reopen() {
    if (!state.runId || state.view.end) return;
    state.stop.abort();
    watch(null);
  }

  async function watch(opened) {
    const stop = new AbortController();
    const { runId } = state;
    if (opened) stop.signal.addEventListener("abort", () => opened.stop.abort());
    const told = (by) => { state.by = by; draw(); };
    const { read, listen, label } = ways(runId, stop.signal, told);
    Object.assign(state, { stop, news: null, problem: "", by: label });
    draw();
    try {
      const events = follow({
        read, listen, opened: opened?.pages, since: state.view.seq, signal: stop.signal,
        pause: (ms) => pause(ms, stop.signal),
        notice: (news) => { if (state.stop === stop) { state.news = news; draw(); } },
      });
      for await (const event of events) {
        if (state.stop !== stop) return;
        take(event);
      }
    } catch (trouble) {
      if (state.stop === stop) stumble(trouble);
    }
  }

  function take(event) {
    const before = state.view.status;
    state.view = fold(state.view, event);
    log.add(event);
    if (state.view.status !== before) onStatus(state.runId, state.view.status);
    draw();
  }

  function stumble(trouble) {
    const id = trouble.requestId ? ` (request ${trouble.requestId})` : "";
    state.problem = `${trouble.message}${id}`;
    draw();
  }

  function draw() {
    drawn ||= requestAnimationFrame(() => {
      drawn = 0;
      if (!state.runId) return;
      const pinned = atBottom();
      show();
      if (pinned) window.scrollTo(0, document.documentElement.scrollHeight);
    });
  }

  function show() {
    const { view, problem } = state;
    say(byId("task"), view.task ? short(view.task, HEADING) : "…");
    byId("whole-task").hidden = view.task.length <= HEADING;
    say(byId("task-text"), view.task);
    rechip(byId("status"), view.status);
    showConnection();
    showFacts(view);
    titled(`${view.status} · ${short(view.task || "a run", 60)}`);
    byId("cancel").hidden = Boolean(view.end) || Boolean(problem);
    byId("cancel").disabled = view.status === "cancelling";
    steps.show(view);
    say(byId("log-count"), String(log.size()));
    if (!byId("log-panel").hidden) log.show();
  }

  function showConnection() {
    const { view, news, by, problem } = state;
    const kind = problem ? "problem" : view.end ? "ended" : news?.kind ?? "connecting";
    const text = problem || (view.end ? `the log ends at event ${view.seq}` : connection(news, by));
    byId("connection").dataset.kind = kind;
    say(byId("connection"), text);
  }

  function showFacts(view) {
    say(byId("first-token"), between(view.acceptedAt, view.firstTokenAt) ?? "–");
    say(byId("took"), between(view.acceptedAt, view.end?.at ?? null) ?? elapsed(view));
    say(byId("steps"), String(currentStep(view)?.number ?? "–"));
    say(byId("tokens"), `${view.estimated ? "about " : ""}${view.tokens || "–"}`);
    say(byId("attempt"), String(view.attempt || "–"));
  }

  async function stopRun() {
    byId("cancel").disabled = true;
    try {
      await cancel(state.runId);
    } catch (trouble) {
      byId("cancel").disabled = false;
      say(byId("cancel-problem"), `Not cancelled: ${trouble.message}.`);
      return;
    }
    say(byId("cancel-problem"), "");
  }

  byId("cancel").addEventListener("click", stopRun);
  return { open, close, reopen, draw };
}

function elapsed(view) {
  return view.acceptedAt ? between(view.acceptedAt, Date.now()) : "–";
}

/** Whoever reads further up stays there. */
function atBottom() {
  const { scrollHeight, clientHeight } = document.documentElement;
  return scrollHeight > clientHeight && window.scrollY + clientHeight > scrollHeight - 80;
}
