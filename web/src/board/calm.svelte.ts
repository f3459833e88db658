import { untrack } from "svelte";

/**
 * A value that seldom changes, read from one that is often looked at anew.
 *
 * Whatever depends on the room is asked "are you still right?" with every message; on a field of 480 cells that asking
 * is most of the work. What reads a calm value is asked only when that value is another one.
 */
export function calm<T>(read: () => T): { readonly now: T } {
  let value = $state.raw(untrack(read));
  $effect.pre(() => {
    const fresh = read();
    if (fresh !== untrack(() => value)) value = fresh;
  });
  return {
    get now() {
      return value;
    },
  };
}
