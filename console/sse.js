/** Server-Sent Events, read from a stream of text: for the requests that EventSource can't make. */

/**
 * @typedef {{event: string, data: string, id: string|null, retry: number|null}} Block
 */

/**
 * The blocks of a stream. One that is cut off before its blank line is not there.
 * @param {AsyncIterable<string>} chunks @returns {AsyncGenerator<Block>}
 */
export async function* blocks(chunks) {
  let rest = "";
  for await (const chunk of chunks) {
    // A lone CR at the end may be half of a CRLF: it waits for the next chunk.
    const whole = rest + chunk;
    const held = whole.endsWith("\r") ? "\r" : "";
    const lines = whole.slice(0, whole.length - held.length).replace(/\r\n?/g, "\n");
    const parts = lines.split("\n\n");
    rest = parts.pop() + held;
    for (const part of parts) {
      const block = read(part);
      if (block) yield block;
    }
  }
}

/** @param {string} part @returns {Block|null} null if there is no data in it, as in a heartbeat */
function read(part) {
  /** @type {Block} */
  const block = { event: "message", data: "", id: null, retry: null };
  const data = [];
  for (const line of part.split("\n")) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "event") block.event = value;
    else if (name === "id") block.id = value;
    else if (name === "retry" && /^\d+$/.test(value)) block.retry = Number(value);
  }
  block.data = data.join("\n");
  return data.length ? block : null;
}
