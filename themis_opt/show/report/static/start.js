const byId = (id) => document.getElementById(id);
const DATA = JSON.parse(byId("data").textContent);
const isCoarse = matchMedia("(pointer: coarse)");
const wantsLessMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** An element with text and attributes; text never is markup. */
function make(tag, text = "", attributes = {}) {
  const node = document.createElement(tag);
  node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}
