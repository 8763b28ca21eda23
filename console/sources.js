/**
 * The ways out of the server: each brings what comes after a cursor, as pages of events.
 *
 * @typedef {import("./follow.js").Listen} Listen
 * @typedef {import("./follow.js").Read} Read
 */

import { isEnd, Trouble } from "./follow.js";
import { blocks } from "./sse.js";

/** Seconds for which the server is asked to hold an answer when the last one was empty. */
const LONG_POLL = 20;
/** A server that says 0 and has nothing more must not be polled without a breath. */
const SHORTEST_PAUSE = 50;
/** Milliseconds. EventSource reconnects by itself, also after each window of a buffered stream: that is no news. */
const GRACE = 2_000;
/** Milliseconds. The server's heartbeat comes every ten seconds. */
const SILENCE = 35_000;

const NO_STREAM = "no_stream";

/** Types of which EventSource must be told beforehand. One that is missing is no loss: `follow` reads what it lacks. */
const TYPES = [
  "run.accepted", "run.started", "run.attempt", "run.waiting", "run.resumed", "run.cancelling", "run.done",
  "run.failed", "run.cancelled", "step.started", "step.reset", "text.delta", "model.replied", "tool.started",
  "tool.progress", "tool.finished", "tool.unknown", "message.added", "approval.requested", "approval.resolved",
  "snapshot", "message",
];

/** @param {Read} read @param {(ms: number) => Promise<void>} pause @returns {Listen} */
export function polling(read, pause) {
  return async function* (since) {
    let wait = LONG_POLL;
    for (;;) {
      const page = await read(since, wait);
      yield page;
      if (page.done) return;
      since = page.next_since;
      wait = page.events.length ? 0 : LONG_POLL;
      if (!page.has_more) await pause(Math.max(page.next_poll_ms, SHORTEST_PAUSE));
    }
  };
}

/**
 * The browser's own EventSource.
 * @param {(since: number) => string} url @param {AbortSignal} signal @param {typeof EventSource} [Source]
 * @returns {Listen}
 */
export function eventSource(url, signal, Source = globalThis.EventSource) {
  return async function* (since) {
    const source = new Source(url(since));
    const inbox = mailbox();
    let opened = false;
    let grace = null;
    const lose = () => inbox.fail(new Trouble("the stream broke off", { transient: true }));
    const hear = ({ data }) => inbox.put(page(data));
    for (const type of TYPES) source.addEventListener(type, hear);
    source.onopen = () => {
      opened = true;
      clearTimeout(grace);
      grace = null;
    };
    source.onerror = () => {
      if (source.readyState !== Source.CLOSED) grace ??= setTimeout(lose, GRACE);
      // It gives up on any answer but 200, and does not say which one it was: a plain read will.
      else if (opened) inbox.end();
      else inbox.fail(refused());
    };
    signal.addEventListener("abort", inbox.end, { once: true });
    try {
      yield* inbox.pages();
    } finally {
      clearTimeout(grace);
      signal.removeEventListener("abort", inbox.end);
      source.close();
    }
  };
}

/**
 * SSE by fetch, with the parser of our own.
 * @param {(since: number, signal: AbortSignal) => Promise<Response>} open @param {AbortSignal} signal
 * @returns {Listen}
 */
export function fetched(open, signal) {
  return async function* (since) {
    yield* pagesOf(await open(since, signal));
  };
}

/** Listen otherwise if the server does not stream after all; `told` hears of it.
 * @param {Listen} listen @param {Listen} otherwise @param {() => void} told @returns {Listen} */
export function orElse(listen, otherwise, told) {
  return async function* (since) {
    try {
      yield* listen(since);
    } catch (trouble) {
      if (trouble.code !== NO_STREAM) throw trouble;
      told();
      yield* otherwise(since);
    }
  };
}

/** What a server that answers, but not with a stream, is told of as. */
export function refused() {
  return new Trouble("the server does not stream this log", { code: NO_STREAM });
}

/** The events in an answer's body as they come. @param {Response} response @returns {ReturnType<Listen>} */
export async function* pagesOf(response) {
  if (!response.body) return;
  for await (const block of blocks(chunks(response.body))) yield page(block.data);
}

/** @param {string} data */
function page(data) {
  const event = JSON.parse(data);
  // What bears no seq is a heartbeat.
  return Number.isInteger(event?.seq) ? { events: [event], done: isEnd(event) } : { events: [], done: false };
}

async function* chunks(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await inTime(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // It may have broken already, and whoever read it knows.
    reader.cancel().catch(() => {});
  }
}

/** A connection that died without a word looks like one that is silent. */
async function inTime(reading) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Trouble("the stream fell silent", { transient: true })), SILENCE);
  });
  try {
    return await Promise.race([reading, late]);
  } catch (fault) {
    throw fault instanceof Trouble ? fault : new Trouble("the stream broke off", { transient: true });
  } finally {
    clearTimeout(timer);
  }
}

/** What callbacks put in, a loop takes out. */
export function mailbox() {
  const waiting = [];
  let wake = () => {};
  let over = null;
  const put = (item) => { waiting.push(item); wake(); };
  const end = () => { over ??= {}; wake(); };
  const fail = (fault) => { over ??= { fault }; wake(); };
  async function* pages() {
    for (;;) {
      while (waiting.length) yield waiting.shift();
      if (over?.fault) throw over.fault;
      if (over) return;
      await new Promise((resolve) => { wake = resolve; });
    }
  }
  return { put, end, fail, pages };
}
