// The only place that makes elements. Text goes in as text nodes; there is no way to hand markup in.

const SVG = "http://www.w3.org/2000/svg";

// Attributes that carry words, sizes and states; none of them can carry a script or an address.
const PLAIN = new Set(
  ("class id for type role tabindex title placeholder autocomplete value checked disabled required hidden open rows min maxlength scope " +
    "download target rel viewBox preserveAspectRatio x y x1 x2 y1 y2 width height points").split(" "),
);

/**
 * An element. `props`: attributes; `on` maps event names to listeners; `class` and `text` as they say.
 * Children are elements, texts, or nested lists; null and false are passed over.
 */
export function h(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [kind, listener] of Object.entries(value)) element.addEventListener(kind, listener);
    } else if (name === "text") element.append(document.createTextNode(value));
    else if (name === "value") element.value = value;
    else if (name === "href") element.setAttribute("href", safeLink(value));
    else if (PLAIN.has(name) || /^(aria|data)-[a-z]+$/.test(name)) element.setAttribute(name, value === true ? "" : String(value));
    else throw new TypeError(`attribute ${name}`);
  }
  append(element, children);
  return element;
}

/** Only places of this page and this server: no other scheme can be clicked. */
export function safeLink(link) {
  return /^(#|\/(?!\/))/.test(link) ? link : "#";
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

export function find(id) {
  return document.getElementById(id);
}

/** Sizes that only the page knows go in through the object model, which the policy allows. */
export function sized(element, styles) {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value);
  return element;
}

/** Say a sentence to a screen reader without moving the focus. */
export function announce(text) {
  const place = find("spoken");
  if (place) place.textContent = text;
}
