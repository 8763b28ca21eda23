import assert from "node:assert/strict";
import { test } from "node:test";

import { makeApi } from "../../console/api.js";
import { offers } from "../../console/offers.js";

/** A fetch that gives these answers in turn, and keeps what it was asked. */
function fetching(...answers) {
  const asked = [];
  const fetch = async (path, init) => {
    asked.push({ path, ...init });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, api: makeApi(fetch) };
}

const json = (body, init) => new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" }, ...init });
const problem = (status, more) => json({ detail: "because", code: "a_code", request_id: "r-1", ...more }, { status });

test("every request says that the console sends it", async () => {
  const { api, asked } = fetching(json({ agents: [] }));
  await api.agents();
  assert.equal(asked[0].headers["X-Pawl-Console"], "1");
});

test("a start carries its idempotency key, so that it can be sent again", async () => {
  const { api, asked } = fetching(json({ run_id: "run_1" }, { status: 202 }));
  assert.deepEqual(await api.start({ agent: "demo", text: "Count" }, "key-1", false), { runId: "run_1", stream: null });
  assert.equal(asked[0].headers["Idempotency-Key"], "key-1");
});

test("a start that streams names its run in Location", async () => {
  const headers = { "Content-Type": "text/event-stream; charset=utf-8", Location: "/v1/runs/run_01abc" };
  const { api, asked } = fetching(new Response("", { headers }));
  const { runId, stream } = await api.start({}, "k", true);
  assert.equal(runId, "run_01abc");
  assert.ok(stream);
  assert.equal(asked[0].path, "/v1/runs?stream=true");
});

test("a server that answers a streaming start with JSON has started the run all the same", async () => {
  const { api } = fetching(json({ run_id: "run_1" }, { status: 202 }));
  assert.deepEqual(await api.start({}, "k", true), { runId: "run_1", stream: null });
});

test("a key that counts no more is renewed once by loading the page", async () => {
  const { api, asked } = fetching(problem(401), new Response("page"), json({ agents: ["demo"] }));
  assert.deepEqual(await api.agents(), ["demo"]);
  assert.deepEqual(asked.map(({ path }) => path), ["/v1/agents", "/", "/v1/agents"]);
});

test("a page that gets no key says where it would", async () => {
  const { api } = fetching(problem(401), new Response("page"), problem(401));
  await assert.rejects(api.agents(), /127\.0\.0\.1 or localhost/);
});

test("a problem keeps what the server said of it", async () => {
  const { api } = fetching(problem(404));
  await assert.rejects(api.agents(), { message: "because", status: 404, code: "a_code", requestId: "r-1", transient: false });
});

test("what may work later is told apart from what never will", async () => {
  for (const [answer, transient] of [
    [new TypeError("Failed to fetch"), true], [problem(503), true], [problem(429), true], [problem(400), false],
    [new Response("<html>", { status: 502 }), true], [new Response("<html>", { status: 403 }), false],
  ]) {
    const { api } = fetching(answer);
    await assert.rejects(api.agents(), { transient });
  }
});

test("an answer that is cut off is trouble that passes", async () => {
  const { api } = fetching(new Response('{"agents": ['));
  await assert.rejects(api.agents(), { transient: true });
});

test("a stream that is none is refused by name", async () => {
  const { api } = fetching(json({ events: [] }));
  await assert.rejects(api.stream("run_1")(-1), { code: "no_stream" });
});

const CONTRACT = `
paths:
  /v1/runs:
    post:
      responses: {}
  /v1/runs/{run_id}/events:
    get:
      content: {text/event-stream: {}}
  /v1/runs/{run_id}/cancel:
    post: {}
components: {}
`;

test("only what the contract names is offered", () => {
  const ids = (contract) => offers(contract).transports.map(({ id }) => id);
  assert.deepEqual(ids(CONTRACT), ["poll", "eventsource", "fetch"]);
  assert.deepEqual(ids(CONTRACT.replace("text/event-stream", "application/json")), ["poll"]);
  assert.deepEqual(ids(""), ["poll"]);
  assert.deepEqual(ids(CONTRACT.replace("components:", "  /v1/tickets:\n    post: {}\ncomponents:")).at(-1), "websocket");
  assert.equal(offers(CONTRACT).streamsStart, false);
  assert.equal(offers(CONTRACT.replace("responses: {}", "content: {text/event-stream: {}}")).streamsStart, true);
});
