/**
 * A run's events folded into what the page shows of it. Pure: no clock, no page, no network.
 *
 * @typedef {{seq: number, type: string, at: string, data: Record<string, any>}} Event
 * @typedef {{call_id: string, name: string, args: any, state: string, ok: boolean|null, content: string|null,
 *   cut: boolean, progress: string|null, startedAt: string|null, endedAt: string|null}} Call
 * @typedef {{kind: 'step', key: string, number: number, at: string|null, parts: {seq: number, text: string}[],
 *   text: string, open: boolean, partial: boolean, notes: Note[], calls: Call[]}} Step
 * @typedef {{kind: 'note', key: string, at: string, text: string}} Note
 * @typedef {{type: string, at: string, data: Record<string, any>}} End
 * @typedef {{seq: number, status: string, agent: string|null, task: string, acceptedAt: string|null,
 *   firstTokenAt: string|null, attempt: number, waiting: Record<string, any>|null, items: (Step|Note)[],
 *   tokens: number, estimated: boolean, end: End|null}} View
 */

import { isEnd, SNAPSHOT } from "./follow.js";

/** @type {View} A run of which nothing is known yet. */
export const NOTHING = Object.freeze({
  seq: -1, status: "pending", agent: null, task: "", acceptedAt: null, firstTokenAt: null, attempt: 0,
  waiting: null, items: [], tokens: 0, estimated: false, end: null,
});

/**
 * Take in one event. One that was taken in before changes nothing; a type that is not known here says nothing.
 * @param {View} view @param {Event} event @returns {View}
 */
export function fold(view, event) {
  if (event.seq <= view.seq) return view;
  const told = TELLERS[event.type];
  return { ...view, ...(told ? told(view, event) : {}), seq: event.seq };
}

/** The step that the run is at. @param {View} view @returns {Step|undefined} */
export function currentStep(view) {
  return /** @type {Step|undefined} */ (view.items.findLast((item) => item.kind === "step"));
}

/** @type {Record<string, (view: View, event: Event) => Partial<View>>} */
const TELLERS = {
  "run.accepted": (view, { at, data }) => ({ acceptedAt: at, agent: data.agent, task: data.text ?? "" }),
  "run.started": (view, { data }) => ({ status: "running", attempt: data.attempt }),
  "run.attempt": taken,
  "run.waiting": waits,
  "run.resumed": (view, event) => ({ ...noted(view, event, "goes on"), status: "running", waiting: null }),
  "run.cancelling": () => ({ status: "cancelling" }),
  "run.done": ends("done"),
  "run.failed": ends("failed"),
  "run.cancelled": ends("cancelled"),
  "step.started": (view, event) => ({ items: [...view.items, step(event.data.step, event.at)] }),
  "step.reset": reset,
  "text.delta": says,
  "model.replied": replied,
  "message.added": (view, event) => noted(view, event, `a message came: ${event.data.text ?? ""}`),
  "tool.started": callStarted,
  "tool.progress": (view, { data }) => inCall(view, data, { progress: data.text }),
  "tool.finished": (view, { at, data }) =>
    inCall(view, data, { state: "finished", ok: data.ok, content: shown(data.content), endedAt: at }),
  "tool.unknown": (view, { at, data }) => inCall(view, data, { state: "unknown", endedAt: at }),
  [SNAPSHOT]: summedUp,
};

/** @returns {Step} */
function step(number, at) {
  return {
    kind: "step", key: `step-${number}`, number, at, parts: [], text: "", open: true, partial: false,
    notes: [], calls: [],
  };
}

function taken(view, event) {
  const why = event.data.reason ? `, ${event.data.reason}` : "";
  const said = noted(view, event, `a new worker goes on (attempt ${event.data.attempt}${why})`);
  return { ...said, status: "running", attempt: event.data.attempt };
}

function waits(view, event) {
  const detail = event.data.detail ? `: ${event.data.detail}` : "";
  return {
    ...noted(view, event, `waiting for ${event.data.for}${detail}`), status: "waiting", waiting: event.data,
  };
}

function ends(status) {
  return (view, { type, at, data }) => ({ status, waiting: null, end: { type, at, data } });
}

/** A note stands in the step in whose midst it came, and between the steps otherwise. */
function noted(view, event, text) {
  const note = { kind: "note", key: `note-${event.seq}`, at: event.at, text };
  const open = currentStep(view);
  if (!open?.open) return { items: [...view.items, note] };
  return inStep(view, open.number, (one) => ({ notes: [...one.notes, note] }));
}

function says(view, { seq, at, data }) {
  const status = view.status === "running" || view.status === "pending" ? "streaming" : view.status;
  const said = inStep(view, data.step, (one) => ({
    parts: [...one.parts, { seq, text: data.text }], text: one.text + data.text,
  }));
  return { ...said, status, firstTokenAt: view.firstTokenAt ?? at };
}

/** The model call broke off and is made again: what it had said from `from_seq` on was never said. */
function reset(view, { seq, at, data }) {
  const void_ = (part) => part.seq >= (data.from_seq ?? 0);
  const note = { kind: "note", key: `note-${seq}`, at, text: "the model call broke off and is made again" };
  return inStep(view, data.step, (one) => {
    const parts = one.parts.filter((part) => !void_(part));
    return { parts, text: parts.map((part) => part.text).join(""), open: true, notes: [...one.notes, note] };
  });
}

/** What is too large for an event lies apart, and the event says how large it is. */
function shown(value) {
  return value?.payload ? `${value.payload.bytes} bytes, kept apart` : String(value ?? "");
}

/** A text that lies apart has been streamed: what came is what it is. */
function replied(view, { data }) {
  const used = data.usage ?? {};
  return {
    ...inStep(view, data.step, (one) => ({
      parts: [], text: data.text?.payload ? one.text : data.text ?? "", open: false, partial: Boolean(data.partial),
    })),
    tokens: view.tokens + (used.input_tokens ?? 0) + (used.output_tokens ?? 0),
    estimated: view.estimated || Boolean(used.estimated),
  };
}

function callStarted(view, { at, data }) {
  const call = {
    call_id: data.call_id, name: data.name, args: data.args, state: "started", ok: null, content: null, cut: false,
    progress: null, startedAt: at, endedAt: null,
  };
  const here = currentStep(view);
  if (!here) return {};
  // The same call may be started again by another worker: it is still one call.
  return inStep(view, here.number, (one) => ({
    calls: [...one.calls.filter((known) => known.call_id !== call.call_id), call],
  }));
}

function inCall(view, data, change) {
  const items = view.items.map((item) => {
    if (item.kind !== "step" || !item.calls.some((call) => call.call_id === data.call_id)) return item;
    const calls = item.calls.map((call) => (call.call_id === data.call_id ? { ...call, ...change } : call));
    return { ...item, calls };
  });
  return { items };
}

function inStep(view, number, change) {
  const items = view.items.map((item) =>
    item.kind === "step" && item.number === number ? { ...item, ...change(item) } : item,
  );
  return { items };
}

/** A snapshot stands for every event up to its own seq: what was known before is replaced by it. */
function summedUp(view, { seq, at, data }) {
  const totals = data.totals ?? {};
  const [first] = data.messages ?? [];
  return {
    status: data.status ?? view.status,
    task: first?.text ?? view.task,
    waiting: data.waiting ?? null,
    items: (data.steps ?? []).map((one) => stepInShort(one, seq)),
    tokens: (totals.input_tokens ?? 0) + (totals.output_tokens ?? 0),
    estimated: Boolean(totals.estimated),
    end: data.end && isEnd(data.end) ? { at, ...data.end } : null,
  };
}

function stepInShort(told, seq) {
  const calls = (told.calls ?? []).filter((call) => call.state !== "asked").map((call) => ({
    ok: null, content: null, cut: false, progress: null, startedAt: null, endedAt: null, ...call,
  }));
  const text = told.text ?? "";
  const parts = told.open ? [{ seq, text }] : [];
  return { ...step(told.step, null), parts, text, open: Boolean(told.open), calls };
}
