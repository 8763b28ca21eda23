/**
 * A run's log followed to its end, over every kind of bad connection, with nothing missing and nothing twice.
 *
 * @typedef {import("./fold.js").Event} Event
 * @typedef {{events: Event[], next_since: number, has_more: boolean, done: boolean, next_poll_ms: number}} Page
 * @typedef {(since: number, wait: number) => Promise<Page>} Read one plain answer; throws `Trouble`
 * @typedef {(since: number) => AsyncIterable<Pick<Page, "events"|"done">>} Listen what comes after a cursor
 * @typedef {{kind: "lost", since: number, tries: number, delay: number, trouble: Error}|{kind: "live"}} Notice
 */

/** The cursor of somebody who has nothing yet. */
export const START = -1;
export const SNAPSHOT = "snapshot";
const GAP_TRIES = 5;
const BREATH = 50;
const FIRST_DELAY = 250;
const LONGEST_DELAY = 5_000;
const ENDS = new Set(["run.done", "run.failed", "run.cancelled"]);

/** Whether nothing can follow. @param {{type: string, data?: any}} event */
export function isEnd(event) {
  return ENDS.has(event.type) || (event.type === SNAPSHOT && Boolean(event.data?.end));
}

/** A request that failed. `transient`: it may work later. */
export class Trouble extends Error {
  /** @param {string} message @param {{transient?: boolean, status?: number, code?: string, field?: string,
   *   requestId?: string, retryAfter?: number}} [told] milliseconds */
  constructor(message, { transient = false, status = 0, code = "", field = "", requestId = "", retryAfter = 0 } = {}) {
    super(message);
    Object.assign(this, { transient, status, code, field, requestId, retryAfter });
  }
}

/**
 * The events after `since`, each once and in order, until the run has ended or `signal` is aborted.
 *
 * A plain read catches up, then `listen` brings what comes. Whatever ends the listening, the next plain read says
 * why: it finds the end of the run, what was missed, or the trouble. `opened` is a stream that is there already.
 *
 * @param {{read: Read, listen: Listen, pause: (ms: number) => Promise<void>, since?: number,
 *   opened?: ReturnType<Listen>|null, notice?: (news: Notice) => void, signal?: AbortSignal,
 *   chance?: () => number}} needs
 * @returns {AsyncGenerator<Event>}
 */
export async function* follow({
  read, listen, pause, since = START, opened = null, notice = () => {}, signal, chance = Math.random,
}) {
  let cursor = since;
  let tries = 0;
  let gaps = 0;
  for (let pages = opened; !signal?.aborted; pages = null) {
    let gapes = false;
    try {
      for await (const page of pages ?? catchUp(read, listen, cursor)) {
        tries = 0;
        notice({ kind: "live" });
        for (const event of unbroken(page.events, cursor)) {
          cursor = event.seq;
          gaps = 0;
          yield event;
          if (signal?.aborted) return;
        }
        gapes = page.events.some((event) => event.seq > cursor);
        if (gapes) break;
        if (page.done) return;
      }
      if (gapes) giveUpOnGap(++gaps, cursor);
      await pause(gapes ? backOff(gaps, chance) : BREATH);
    } catch (trouble) {
      if (signal?.aborted) return;
      if (!trouble.transient) throw trouble;
      tries += 1;
      const delay = Math.max(backOff(tries, chance), trouble.retryAfter ?? 0);
      notice({ kind: "lost", since: cursor, tries, delay, trouble });
      await pause(delay);
    }
  }
}

/** The events that follow the cursor without a hole; what was received before is dropped.
 * @param {Event[]} events @param {number} since */
export function unbroken(events, since) {
  const fresh = [];
  let last = since;
  for (const event of events) {
    // A snapshot leaves no hole: it stands for every event up to its own seq.
    if (event.seq === last + 1 || (event.type === SNAPSHOT && event.seq > last)) {
      last = event.seq;
      fresh.push(event);
    }
  }
  return fresh;
}

async function* catchUp(read, listen, since) {
  for (;;) {
    const page = await read(since, 0);
    yield page;
    since = page.next_since;
    if (page.done) return;
    if (!page.has_more) break;
  }
  yield* listen(since);
}

function giveUpOnGap(gaps, cursor) {
  if (gaps >= GAP_TRIES) throw new Trouble(`the log has a hole after event ${cursor}`, { code: "log_broken" });
}

/** At most half of it is taken off by chance: clients that lost the same server must not come back in step. */
function backOff(tries, chance) {
  return Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(tries - 1, 16)) * (1 - chance() / 2);
}
