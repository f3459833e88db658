// What is to be done whenever an element has another size, as when it is unfolded.
import type { Attachment } from "svelte/attachments";

/** Does this as soon as the element has a size, and whenever it has another. */
export function whenSized(act: () => void): Attachment<HTMLElement> {
  return (element) => {
    const watch = new ResizeObserver(act);
    watch.observe(element);
    return () => watch.disconnect();
  };
}
