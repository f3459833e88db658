// What home does not need is left until home can be used, so that nobody waits for it there; or until somebody goes for it.

import { routeOf } from "./routes";

let begin: () => void;
let begun = false;

/** Resolved when the rest may be loaded. */
export const later = new Promise<void>((done) => (begin = done));

/** From now on the rest is loaded. */
export function loadRest(): void {
  begun = true;
  begin();
}

/** Whether the rest is loaded already, or about to be. */
export const isLater = (): boolean => begun;

if (!globalThis.location || routeOf(location.pathname).page !== "home") loadRest();

/** Home can be used: the rest is loaded as soon as the browser has nothing else to do. */
export function homeIsThere(): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(loadRest, { timeout: 1000 });
  else setTimeout(loadRest, 200); // Safari
}

/** Whoever is on the way to a button or a link may be gone from home in a moment. */
export function loadRestWhenReached(): void {
  for (const way of ["pointerover", "pointerdown", "focusin"]) addEventListener(way, reached, { passive: true });
  void later.then(() => {
    for (const way of ["pointerover", "pointerdown", "focusin"]) removeEventListener(way, reached);
  });
}

function reached({ target }: Event): void {
  if (target instanceof Element && target.closest("main :is(a, button)")) loadRest();
}
