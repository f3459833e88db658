// What both pages for developers make their elements with.

/** An element with text in it. */
export function made<K extends keyof HTMLElementTagNameMap>(kind: K, text: string, className = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(kind);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/** The element of the page with this id, which is of this kind. */
export function found<E extends HTMLElement>(id: string, kind: new () => E): E {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`expected ${kind.name} #${id} on the page`);
  return element;
}
