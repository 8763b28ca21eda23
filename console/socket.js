/**
 * A log by WebSocket. docs/delivery.md has the messages.
 *
 * @typedef {import("./follow.js").Listen} Listen
 */

import { Trouble } from "./follow.js";
import { mailbox, refused } from "./sources.js";

/** Milliseconds. Without a ping the run does not count as watched, and text is held back. */
const PING_EVERY = 10_000;
/** The first one finds what its writer wrote before it knew of us. */
const FIRST_PING = 2_000;
/** Milliseconds without a frame, pongs too, after which the connection is taken for dead. */
const SILENCE = 35_000;
/** Milliseconds before its ticket expires at which a socket is given up for a new one. */
const MARGIN = 30_000;

/**
 * @param {string} runId
 * @param {{ticket: () => Promise<{ticket: string, expires_in: number}>, url: (ticket: string) => string,
 *   signal: AbortSignal, Socket?: typeof WebSocket}} needs
 * @returns {Listen} ends by itself before the ticket does; whoever follows listens again, from the cursor
 */
export function webSocket(runId, { ticket, url, signal, Socket = globalThis.WebSocket }) {
  return async function* (since) {
    const granted = await ticket();
    const inbox = mailbox();
    const socket = new Socket(url(granted.ticket));
    const say = (message) => socket.readyState === Socket.OPEN && socket.send(JSON.stringify(message));
    const ping = () => say({ action: "ping" });
    const timers = [setTimeout(ping, FIRST_PING), setInterval(ping, PING_EVERY)];
    timers.push(setTimeout(inbox.end, granted.expires_in * 1000 - MARGIN));
    const silence = watchdog(() => inbox.fail(new Trouble("the socket fell silent", { transient: true })));
    const whole = joiner();
    let opened = false;
    socket.onopen = () => {
      opened = true;
      say({ action: "subscribe", run_id: runId, since });
    };
    socket.onmessage = ({ data }) => {
      silence.feed();
      const frame = whole(JSON.parse(data));
      if (frame?.type === "events") inbox.put({ events: frame.events, done: frame.done });
      if (frame?.type === "problem") inbox.fail(told(frame.problem));
    };
    // A socket that never opened does not say why: a plain read will.
    socket.onclose = () =>
      inbox.fail(opened ? new Trouble("the socket broke off", { transient: true }) : refused());
    signal.addEventListener("abort", inbox.end, { once: true });
    try {
      yield* inbox.pages();
    } finally {
      for (const timer of timers) clearTimeout(timer);
      silence.stop();
      signal.removeEventListener("abort", inbox.end);
      socket.close();
    }
  };
}

/** What a problem frame says. An expired ticket is no more than a reason for another one. */
function told({ code, detail, status, field = "" }) {
  const transient = status >= 500 || code === "ticket_expired";
  return new Trouble(detail, { code, status, field, transient });
}

/** Puts the parts of a frame together; gives the frame once it is whole, and null until then. */
function joiner() {
  const parts = new Map();
  return (frame) => {
    if (frame.type !== "part") return frame;
    const texts = parts.get(frame.seq) ?? new Map();
    parts.set(frame.seq, texts.set(frame.part, frame.text));
    if (texts.size < frame.parts) return null;
    parts.delete(frame.seq);
    return JSON.parse(Array.from({ length: frame.parts }, (_, part) => texts.get(part)).join(""));
  };
}

function watchdog(bark) {
  let timer = setTimeout(bark, SILENCE);
  const stop = () => clearTimeout(timer);
  const feed = () => { stop(); timer = setTimeout(bark, SILENCE); };
  return { feed, stop };
}
