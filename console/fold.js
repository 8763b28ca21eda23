/**
 * A run's events folded into what the page shows of it. Pure: no clock, no page, no network.
 *
 * @typedef {{seq: number, type: string, at: string, data: Record<string, any>}} Event
 * @typedef {import("./asking.js").Question} Question
 * @typedef {{call_id: string, name: string, args: any, state: string, ok: boolean|null, content: string|null,
 *   cut: boolean, progress: string|null, startedAt: string|null, endedAt: string|null, answers: string,
 *   deadline: string|null, refused: boolean, doubted: boolean, detail: string, by: string,
 *   questions: Question[]}} Call a call keeps the id that the model's had, also when somebody edits it
 * @typedef {{kind: 'step', key: string, number: number, at: string|null, parts: {seq: number, text: string}[],
 *   text: string, open: boolean, partial: boolean, notes: Note[], asked: any[], calls: Call[]}} Step
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
  "run.resumed": resumes,
  "run.cancelling": (view) => ({ ...nothingIsAsked(view), status: "cancelling" }),
  "run.done": ends("done"),
  "run.failed": ends("failed"),
  "run.cancelled": ends("cancelled"),
  "step.started": (view, event) => ({ items: [...view.items, step(event.data.step, event.at)] }),
  "step.reset": reset,
  "text.delta": says,
  "model.replied": replied,
  "message.added": (view, event) => noted(view, event, `a message came: ${event.data.text ?? ""}`),
  "approval.requested": asks,
  "approval.resolved": resolved,
  "tool.started": (view, { at, data }) => inCall(view, data, () => ({
    ...UNMADE, state: "started", args: data.args, startedAt: at, answers: data.answers ?? "tool",
    deadline: data.deadline ?? null,
  })),
  "tool.progress": (view, { data }) => inCall(view, data, () => ({ progress: data.text })),
  "tool.finished": (view, { at, data }) => inCall(view, data, () => ({
    state: "finished", ok: data.ok, content: shown(data.content), endedAt: at, refused: Boolean(data.refused),
    by: data.by ?? "",
  })),
  "tool.unknown": (view, { at, data }) =>
    inCall(view, data, () => ({ state: "unknown", endedAt: at, doubted: true, detail: data.detail ?? "" })),
  [SNAPSHOT]: summedUp,
};

/** @returns {Step} */
function step(number, at) {
  return {
    kind: "step", key: `step-${number}`, number, at, parts: [], text: "", open: true, partial: false,
    notes: [], asked: [], calls: [],
  };
}

function taken(view, event) {
  const why = event.data.reason ? `, ${event.data.reason}` : "";
  const said = noted(view, event, `a new worker goes on (attempt ${event.data.attempt}${why})`);
  return { ...said, status: "running", attempt: event.data.attempt };
}

/** A wait for a person is told by the question itself. */
function waits(view, event) {
  if (event.data.for === "approval") return { status: "waiting", waiting: event.data };
  const detail = event.data.detail ? `: ${event.data.detail}` : "";
  return {
    ...noted(view, event, `waiting for ${event.data.for}${detail}`), status: "waiting", waiting: event.data,
  };
}

function resumes(view, event) {
  const said = view.waiting?.for === "approval" ? {} : noted(view, event, "goes on");
  return { ...said, status: "running", waiting: null };
}

function ends(status) {
  return (view, { type, at, data }) => ({ ...nothingIsAsked(view), status, waiting: null, end: { type, at, data } });
}

/** A run that ends closes what it asked. */
function nothingIsAsked(view) {
  const closed = (question) => (question.resolved ? question : { ...question, closed: true });
  const items = view.items.map((item) => {
    if (item.kind !== "step" || !item.calls.some((call) => call.questions.length)) return item;
    return { ...item, calls: item.calls.map((call) => ({ ...call, questions: call.questions.map(closed) })) };
  });
  return { items };
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
      asked: Array.isArray(data.tool_calls) ? data.tool_calls : [],
    })),
    tokens: view.tokens + (used.input_tokens ?? 0) + (used.output_tokens ?? 0),
    estimated: view.estimated || Boolean(used.estimated),
  };
}

function asks(view, { data }) {
  const question = { ...data, resolved: null, closed: false };
  return inCall(view, data, ({ questions }) => ({ questions: [...questions, question] }));
}

function resolved(view, { at, data }) {
  const answered = (question) =>
    question.approval_id === data.approval_id ? { ...question, resolved: { ...data, at } } : question;
  return inCall(view, data, ({ args, questions }) => ({
    args: data.edited?.args ?? args, questions: questions.map(answered),
  }));
}

const UNMADE = {
  state: "asked", ok: null, content: null, cut: false, progress: null, startedAt: null, endedAt: null, answers: "tool",
  deadline: null, refused: false, doubted: false, detail: "", by: "",
};

/** Who edits a call makes a call of its own out of it; on the page it is still the one that the model asked for. */
function askedId(callId) {
  return callId.replace(/e$/, "");
}

/** A call is shown from the first event about it on, and stays one however often it is made. */
function inCall(view, data, change) {
  const here = currentStep(view);
  if (!here) return {};
  const callId = askedId(data.call_id);
  return inStep(view, here.number, ({ asked, calls }) => {
    const known = calls.some((call) => call.call_id === callId);
    const all = known ? calls : [...calls, unmade(callId, data, asked)];
    return { calls: all.map((call) => (call.call_id === callId ? { ...call, ...change(call) } : call)) };
  });
}

/** A call that was refused is never begun: what it would have been stands in the model's reply. */
function unmade(callId, data, asked) {
  const args = data.args ?? asked[Number(callId.split("-").at(-1))]?.args ?? {};
  return { ...UNMADE, call_id: callId, name: data.name ?? "", args, questions: [] };
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
  const calls = (told.calls ?? []).map(callInShort).filter((call) => call.state !== "asked" || call.questions.length);
  const text = told.text ?? "";
  const parts = told.open ? [{ seq, text }] : [];
  return { ...step(told.step, null), parts, text, open: Boolean(told.open), calls };
}

function callInShort({ approval, decisions = [], ...told }) {
  const answered = decisions.map((one) => ({
    ...one, call_id: told.call_id, name: told.name, args: one.args ?? told.args, resolved: one, closed: false,
  }));
  const open = approval ? [{ ...approval, resolved: null, closed: false }] : [];
  const doubted = decisions.some((one) => one.question === "outcome");
  return { ...UNMADE, doubted, ...told, call_id: askedId(told.call_id), questions: [...answered, ...open] };
}
