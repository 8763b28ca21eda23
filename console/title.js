/** The page's title: what is looked at, and before it how many questions are open. */

let text = "Pawl";
let open = "";

/** @param {string} told */
export function titled(told) {
  text = told;
  write();
}

/** @param {string} count empty for none */
export function asking(count) {
  open = count;
  write();
}

function write() {
  document.title = open ? `(${open}) ${text}` : text;
}
