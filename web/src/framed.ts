// The panel for authors shows the page of a room in frames, each for another player. The frame says for whom: its token
// stands on its element, which only a page of our own can be the parent of (see the Content-Security-Policy).

/** The token of the player whom this page is for; null on every page that is not in a frame. */
export const framedFor: string | null = (globalThis.frameElement as HTMLElement | null | undefined)?.dataset.token ?? null;
