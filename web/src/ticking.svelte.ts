// The time, for what counts seconds on the page; it runs only while something looks.
import { createSubscriber } from "svelte/reactivity";
import { steady } from "./steady";

const TICK = 100; // two pages show the same second within 200 ms

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, TICK);
  return () => clearInterval(timer);
});

/** The page's own time, told anew a few times a second. */
export function now(): number {
  subscribe();
  return steady();
}
