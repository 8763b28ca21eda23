// node follow.mjs CLIENT URL: follow a run as the users of one client do, and print each seq as it comes.
// What a client delivers is printed as it is. The key stands in PAWL_KEY, the types of events in PAWL_TYPES.

import { fetchEventSource } from "@microsoft/fetch-event-source";
import { EventSource } from "eventsource";

const ENDS = new Set(["run.done", "run.failed", "run.cancelled"]);
const KEY = { Authorization: `Bearer ${process.env.PAWL_KEY}` };
const TYPES = process.env.PAWL_TYPES.split(",");

const told = (seq) => process.stdout.write(`${seq}\n`);

/** It keeps the cursor and reconnects by itself, until a 204 ends it. */
function followWithEventSource(url) {
  const fetchWithKey = (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...KEY } });
  const source = new EventSource(url, { fetch: fetchWithKey });
  for (const type of TYPES) source.addEventListener(type, ({ lastEventId }) => told(Number(lastEventId)));
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) process.exit(0);
  };
}

class Gap extends Error {}

/**
 * It keeps the cursor and tries again after an error; the end of an answer is one only if its user says so. A line that
 * breaks between an id and the empty line behind it leaves it with the id of an event that it has not delivered: its
 * user sees the gap, and begins anew with a cursor of its own.
 */
async function followWithFetchEventSource(url) {
  globalThis.window = globalThis; // it was made for pages
  globalThis.document = { addEventListener() {}, removeEventListener() {} };
  let last = null;
  let ended = false;
  while (!ended) {
    const cursor = last === null ? {} : { "last-event-id": String(last) };
    await fetchEventSource(url, {
      headers: { ...KEY, ...cursor },
      openWhenHidden: true,
      onopen: async (response) => {
        ended ||= response.status === 204;
      },
      onmessage: (message) => {
        if (message.event === "trouble") return;
        const seq = Number(message.id);
        if (last !== null && seq > last + 1) throw new Gap();
        last = seq;
        ended ||= ENDS.has(message.event);
        told(seq);
      },
      onclose: () => {
        if (!ended) throw new Error("the answer ended, the run has not");
      },
      onerror: (fault) => {
        if (ended || fault instanceof Gap) throw fault;
      },
    }).catch((fault) => {
      if (!ended && !(fault instanceof Gap)) throw fault;
    });
  }
}

const FOLLOWERS = { eventsource: followWithEventSource, "fetch-event-source": followWithFetchEventSource };
const [, , client, url] = process.argv;
await FOLLOWERS[client](url);
