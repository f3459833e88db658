// Relays as their clients know them: where a room is, and what an envelope carries.

/** What this page reads of an envelope; those of the first generation have no number. */
export interface Envelope {
  Num?: number;
  Body?: unknown;
}

/** Where a room's socket is; what was heard last counts only for somebody with an id. */
export function addressOf(room: string, who: string, last: string, page: string): URL {
  const query = new URLSearchParams();
  if (who) query.set("id", who);
  if (who && last) query.set("lastnum", last);
  const path = room.split("/").map(encodeURIComponent).join("/");
  const url = new URL(`/g/${path}?${query}`, page);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
}

/** The text of a body of today, which is base64 of bytes; of any other the envelope shows all there is. */
export function bodyOf({ Num, Body }: Envelope): string {
  if (Num === undefined || typeof Body !== "string") return "";
  return new TextDecoder().decode(Uint8Array.from(atob(Body), (sign) => sign.charCodeAt(0)));
}
