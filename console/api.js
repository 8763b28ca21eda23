/** The REST API, asked with the page's own cookie. */

import { Trouble } from "./follow.js";
import { refused } from "./sources.js";

/** Milliseconds on top of what the server was asked to wait: a server that died without a word never answers. */
const PATIENCE = 10_000;
const NO_KEY = "this page has no key; open it on the machine where Pawl runs, as 127.0.0.1 or localhost";
const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";

/** @param {typeof fetch} [fetch_] */
export function makeApi(fetch_ = globalThis.fetch.bind(globalThis)) {
  /** @param {string} path @param {RequestInit} [init] @returns {Promise<Response>} */
  async function ask(path, init = {}) {
    let response = await reach(path, init);
    if (response.status === 401) {
      // A local cloud without --data has a new key after each start; the page brings it.
      await reach("/", { cache: "no-store" });
      response = await reach(path, init);
      if (response.status === 401) throw new Trouble(NO_KEY, { status: 401 });
    }
    if (!response.ok) throw await problem(response);
    return response;
  }

  async function reach(path, init) {
    const headers = { Accept: JSON_TYPE, "X-Pawl-Console": "1", ...init.headers };
    try {
      return await fetch_(path, { credentials: "same-origin", ...init, headers });
    } catch (fault) {
      if (init.signal?.aborted && fault.name !== "TimeoutError") throw fault;
      throw new Trouble("the server does not answer", { transient: true });
    }
  }

  async function get(path, signal) {
    return body(await ask(path, { signal }));
  }

  const post = (path, sent, headers = {}, signal = undefined) =>
    ask(path, {
      method: "POST", body: JSON.stringify(sent), signal, headers: { "Content-Type": JSON_TYPE, ...headers },
    });

  return {
    agents: async () => (await get("/v1/agents")).agents,
    runs: (next = null) => get(`/v1/runs?limit=30${next ? `&next=${encodeURIComponent(next)}` : ""}`),
    ticket: (runId) => async () => body(await post("/v1/tickets", { run_id: runId })),
    cancel: async (runId) => body(await post(`/v1/runs/${runId}/cancel`, {})),
    approvals: () => get("/v1/approvals?limit=50"),

    /** Answer a question. The answer that stands; a `Trouble` with status 409 if another one does.
     * @param {string} runId @param {string} approvalId @param {object} verdict */
    async decide(runId, approvalId, verdict) {
      const { at, data } = await body(await post(`/v1/runs/${runId}/approvals/${approvalId}`, verdict));
      return { ...data, at };
    },

    payload: (runId, digest) => get(`/v1/runs/${runId}/payloads/${digest}`),
    contract: async () => (await ask("/openapi.yaml", { headers: { Accept: "*/*" } })).text(),

    /** One page of the log. @param {string} runId @param {AbortSignal} signal */
    read: (runId, signal) => (since, wait) => {
      const late = AbortSignal.timeout(wait * 1000 + PATIENCE);
      return get(`${eventsUrl(runId)(since)}&wait=${wait}`, AbortSignal.any([signal, late]));
    },

    /** The log as a stream. @param {string} runId */
    stream: (runId) => async (since, signal) => {
      const response = await ask(eventsUrl(runId)(since), { signal, headers: { Accept: STREAM_TYPE } });
      return response.status === 204 ? response : streamed(response);
    },

    /**
     * Start a run. `stream` is its log, if the server answers with it.
     * @param {object} task @param {string} key makes it safe to repeat @param {boolean} streaming
     * @param {AbortSignal} [signal] ends the stream
     */
    async start(task, key, streaming, signal) {
      const asked = streaming ? { Accept: STREAM_TYPE } : {};
      const path = streaming ? "/v1/runs?stream=true" : "/v1/runs";
      const response = await post(path, task, { ...asked, "Idempotency-Key": key }, signal);
      if (isStream(response)) return { runId: runIdIn(response), stream: response };
      return { runId: (await body(response)).run_id, stream: null };
    },
  };
}

/** @param {string} runId */
export function eventsUrl(runId) {
  return (since) => `/v1/runs/${runId}/events?since=${since}`;
}

/** @param {string} ticket */
export function socketUrl(ticket) {
  return `${window.location.origin.replace(/^http/, "ws")}/v1/socket?ticket=${encodeURIComponent(ticket)}`;
}

function runIdIn(response) {
  const [found] = /run_[0-9a-z]+/.exec(response.headers.get("Location") ?? "") ?? [];
  if (!found) throw new Trouble("the server did not say which run it started");
  return found;
}

function isStream(response) {
  return (response.headers.get("Content-Type") ?? "").startsWith(STREAM_TYPE);
}

function streamed(response) {
  if (!isStream(response)) throw refused();
  return response;
}

async function body(response) {
  try {
    return await response.json();
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Trouble("the answer was cut off", { transient: true });
  }
}

/** What went wrong, as the server tells it (RFC 9457). */
async function problem(response) {
  const told = await response.json().catch(() => ({}));
  const { status } = response;
  return new Trouble(told.detail ?? `the server answered ${status}`, {
    status,
    code: told.code ?? "",
    field: told.field ?? "",
    requestId: told.request_id ?? response.headers.get("X-Request-Id") ?? "",
    transient: status >= 500 || status === 429 || status === 408,
    retryAfter: Number(response.headers.get("Retry-After") ?? 0) * 1000 || 0,
  });
}
