// What is to be done with a list that scrolls when it has another size, as when it is unfolded.
import type { Attachment } from "svelte/attachments";

/** So many pixels above its end a list is still at its end. */
const NEARLY = 2;

/** Does this as soon as the list has a size, and when it has another: unless somebody has scrolled back to read, and then
 * only where it must be. */
export function whenSized(act: () => void, must: () => boolean = () => false): Attachment<HTMLElement> {
  return (list) => {
    let isSeen = false;
    let isAtEnd = true;
    const look = () => (isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight <= NEARLY);
    const watch = new ResizeObserver(() => {
      const appears = !isSeen;
      isSeen = list.clientHeight > 0;
      if (isSeen && (appears || isAtEnd || must())) act();
    });
    watch.observe(list);
    list.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      list.removeEventListener("scroll", look);
    };
  };
}
