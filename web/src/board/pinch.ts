// Two fingers that draw a field larger or smaller.

export interface Pinched {
  /** How much farther the fingers are apart than when they were looked at last. */
  readonly by: number;
  /** The middle between them, on the screen. */
  readonly x: number;
  readonly y: number;
}

/** Tells of two fingers on an element, whose browser then leaves them alone. */
export function pinch(node: HTMLElement, onpinch: ((pinched: Pinched) => void) | undefined): { update: (to: typeof onpinch) => void; destroy: () => void } {
  let tell = onpinch;
  let before: number | null = null;

  function look(event: TouchEvent): void {
    const [one, two] = event.touches;
    if (!tell || !one || !two || event.touches.length > 2) return void (before = null);
    event.preventDefault();
    const apart = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
    if (before) tell({ by: apart / before, x: (one.clientX + two.clientX) / 2, y: (one.clientY + two.clientY) / 2 });
    before = apart;
  }

  const KINDS = ["touchstart", "touchmove", "touchend", "touchcancel"] as const;
  for (const kind of KINDS) node.addEventListener(kind, look, { passive: false });
  return {
    update: (to) => void (tell = to),
    destroy: () => KINDS.forEach((kind) => node.removeEventListener(kind, look)),
  };
}
