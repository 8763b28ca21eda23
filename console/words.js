/** How times, amounts and faults are put. Pure. */

/** @param {string|null} from @param {string|number|null} to @returns {string|null} */
export function between(from, to) {
  if (from === null || to === null) return null;
  return duration(Math.max(0, new Date(to).getTime() - new Date(from).getTime()));
}

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long ago, roughly. @param {string} at @param {number} now */
export function ago(at, now) {
  const seconds = Math.max(0, (now - new Date(at).getTime()) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return at.slice(0, 10);
}

/** One line, not longer than so many letters. @param {string} text @param {number} letters */
export function short(text, letters) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= letters ? line : `${line.slice(0, letters - 1)}…`;
}

/** @param {import("./follow.js").Notice|null} news @param {string} by the way out that is in use */
export function connection(news, by) {
  if (news === null) return "connecting";
  if (news.kind === "live") return `following by ${by}`;
  const place = news.since < 0 ? "the start" : `event ${news.since}`;
  return `reconnecting, from ${place} (try ${news.tries})`;
}

const WAITS = {
  approval: "waiting for a person's answer",
  tool: "waiting for an answer from outside",
  slot: "in line: as many runs are at work as the account may have",
};

/** What goes on until the next event; null while text comes, which speaks for itself.
 * @param {import("./fold.js").View} view @param {import("./fold.js").Step|undefined} step */
export function doing(view, step) {
  const busy = step?.calls.find((call) => call.state === "started");
  if (view.end) return null;
  if (view.status === "pending") return "waiting for a worker";
  if (view.status === "cancelling") return "stopping the worker";
  if (view.status === "waiting") return WAITS[view.waiting?.for] ?? `waiting for ${view.waiting?.for ?? "an answer"}`;
  if (busy) return busy.progress ? `${busy.name}: ${busy.progress}` : `${busy.name} is at work`;
  if (step?.open && step.text) return null;
  return view.firstTokenAt ? "thinking" : "waiting for the first token";
}

/** How the run ended. @param {import("./fold.js").End} end */
export function ending({ type, data }) {
  if (type === "run.done") return "The run is done.";
  if (type === "run.failed") return `It failed: ${fault(data.error)}.`;
  const reason = data.reason ? `: ${data.reason}` : "";
  return `Cancelled by ${data.actor}${reason}. The worker stopped within ${duration(data.latency_ms ?? 0)}.`;
}

function fault(error) {
  return [error?.code, error?.detail].filter(Boolean).join(", ") || "no reason given";
}
