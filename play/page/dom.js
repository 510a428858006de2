// Elements by name, and new ones.

const element = (id) => document.getElementById(id);

/** A new element with properties (`class`, `on…`, attributes) and children (elements or text; others are left out). */
function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...present(children));
  return made;
}

const present = (children) => children.flat().filter((child) => child !== null && child !== undefined && child !== false);

/** Gives an element of this name new children. */
const fill = (id, ...children) => element(id).replaceChildren(...present(children));

/** A new element of a drawing. */
function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Whether a lane is in a mask, which is two halves of 32 bits. */
const hasLane = (mask, lane) => ((mask[lane >> 5] >>> (lane & 31)) & 1) === 1;

/** The lanes of a mask. */
const lanesOf = (mask, n) => Array.from({ length: n }, (_, lane) => lane).filter((lane) => hasLane(mask, lane));

const plural = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
