/** Elements, made of text only: nothing that a server or a model says is ever read as HTML. */

/**
 * @param {string} tag @param {Record<string, any>|null} [attributes] `on…` are listeners, true is an empty attribute
 * @param {...(Node|string|null)} children @returns {any}
 */
export function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) set(made, name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function set(element, name, value) {
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (value === true) element.setAttribute(name, "");
  else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
}

/** @param {string} id @returns {any} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Change an element's text only if it is another one: what stays is not announced again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {string} status */
export function chip(status) {
  return el("span", { class: "chip", "data-status": status }, status);
}

/** @param {HTMLElement} element @param {string} status */
export function rechip(element, status) {
  element.dataset.status = status;
  say(element, status);
}
