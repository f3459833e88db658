// The time, for what counts seconds on the page; it runs only while something looks.
import { createSubscriber } from "svelte/reactivity";

const TICK = 100; // two pages show the same second within 200 ms

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, TICK);
  return () => clearInterval(timer);
});

/** Milliseconds since 1970, told anew a few times a second. */
export function now(): number {
  subscribe();
  return Date.now();
}
