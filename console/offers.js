/** Which ways out the server has, read in its own contract: what it does not offer is not shown. */

const STREAM_TYPE = "text/event-stream";

/** @typedef {{id: string, label: string}} Transport */

/** @type {Transport} */
export const POLL = { id: "poll", label: "polling" };
/** @type {Transport} */
export const EVENT_SOURCE = { id: "eventsource", label: "EventSource" };
/** @type {Transport} */
export const FETCH = { id: "fetch", label: "SSE by fetch" };
/** @type {Transport} */
export const WEBSOCKET = { id: "websocket", label: "WebSocket" };

/**
 * @param {string} contract the text of openapi.yaml
 * @returns {{transports: Transport[], streamsStart: boolean}} `streamsStart`: a POST can answer with the log itself
 */
export function offers(contract) {
  const streams = pathItem(contract, "/v1/runs/{run_id}/events").includes(STREAM_TYPE);
  // What a socket is opened with; the socket itself is no path of the contract.
  const sockets = pathItem(contract, "/v1/tickets") !== "";
  return {
    transports: [POLL, ...(streams ? [EVENT_SOURCE, FETCH] : []), ...(sockets ? [WEBSOCKET] : [])],
    streamsStart: streams && pathItem(contract, "/v1/runs").includes(STREAM_TYPE),
  };
}

/** The lines under a path, up to the next one. */
function pathItem(contract, path) {
  const lines = contract.split("\n");
  const begin = lines.indexOf(`  ${path}:`);
  if (begin < 0) return "";
  const rest = lines.slice(begin + 1);
  const end = rest.findIndex((line) => /^ {0,2}\S/.test(line));
  return rest.slice(0, end < 0 ? rest.length : end).join("\n");
}
