/** The form that starts a run. */

import { byId, el, say } from "./dom.js";
import { short } from "./words.js";

/** Letters of the task that the run is listed under, as its metadata. */
const TITLE = 80;

/**
 * @param {() => Promise<any[]>} agents
 * @param {(task: object, key: string) => Promise<void>} submit
 */
export function startForm(agents, submit) {
  const form = byId("start");
  const parts = { agent: byId("agent"), text: byId("text"), button: byId("go"), problem: byId("start-problem") };
  // The same key for the same task: to send it again after a lost answer starts no second run.
  let sent = { task: "", key: "" };

  async function fill() {
    try {
      const found = await agents();
      parts.agent.replaceChildren(...found.map((agent) => el("option", { value: agent.name }, agent.name)));
      const describe = () =>
        say(byId("agent-about"), found.find((agent) => agent.name === parts.agent.value)?.description ?? "");
      parts.agent.addEventListener("change", describe);
      describe();
      parts.button.disabled = false;
    } catch (trouble) {
      fail(trouble);
    }
  }

  async function go(event) {
    event.preventDefault();
    if (parts.button.disabled) return;
    const text = parts.text.value.trim();
    if (!text) return fail(new Error("say what is to be done"));
    const task = { agent: parts.agent.value, text, metadata: { title: short(text, TITLE) } };
    const told = JSON.stringify(task);
    if (sent.task !== told) sent = { task: told, key: crypto.randomUUID() };
    parts.button.disabled = true;
    try {
      await submit(task, sent.key);
      sent = { task: "", key: "" };
      parts.text.value = "";
      succeed();
    } catch (trouble) {
      fail(trouble);
    } finally {
      parts.button.disabled = false;
    }
  }

  function fail(trouble) {
    say(parts.problem, `Not started: ${trouble.message}.`);
    parts.text.setAttribute("aria-invalid", "true");
  }

  function succeed() {
    say(parts.problem, "");
    parts.text.removeAttribute("aria-invalid");
  }

  form.addEventListener("submit", go);
  parts.text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  return { fill };
}
