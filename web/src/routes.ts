// Which page an address means.

export type Route =
  | { readonly page: "home" }
  | { readonly page: "room"; readonly room: string }
  | { readonly page: "replay"; readonly room: string; readonly past: PastGame | null }
  | { readonly page: "leaderboard"; readonly game: string | null; readonly variant: string | null; readonly bots: boolean }
  | { readonly page: "rules"; readonly game: string; readonly variant: string | null }
  | { readonly page: "player"; readonly player: string }
  | { readonly page: "watch" }
  | { readonly page: "mine" }
  | { readonly page: "account" }
  | { readonly page: "sign-in" }
  | { readonly page: "nowhere" };

/** One of the games of a room, which may have freed its name since. */
export interface PastGame {
  /** The room's number, which no other room gets. */
  readonly number: number;
  /** The step in which it ended. */
  readonly seq: number;
}

/** A page with a board, which has a header of its own and all the room. */
export function isBoard({ page }: Route): boolean {
  return page === "room" || page === "replay";
}

const NOWHERE: Route = { page: "nowhere" };

/** The page of an address, with what stands behind its question mark. */
export function routeOf(address: string): Route {
  const [path = "", search = ""] = address.split("?", 2);
  const parts = path.split("/").slice(1).map(decoded);
  switch (parts[0]) {
    case "":
      return parts.length === 1 ? { page: "home" } : NOWHERE;
    case "r":
      return roomRoute(path, search);
    case "leaderboard":
      if (parts.length > 3 || parts.includes("")) return NOWHERE;
      return { page: "leaderboard", game: parts[1] ?? null, variant: parts[2] ?? null, bots: search === "bots" };
    case "rules":
      if (parts.length < 2 || parts.length > 3 || parts.includes("")) return NOWHERE;
      return { page: "rules", game: parts[1]!, variant: parts[2] ?? null };
    case "watch":
      return parts.length === 1 ? { page: "watch" } : NOWHERE;
    case "games":
      return parts.length === 1 ? { page: "mine" } : NOWHERE;
    case "account":
    case "sign-in":
      return parts.length === 1 ? { page: parts[0] } : NOWHERE;
    case "p":
      return parts.length === 2 && parts[1] ? { page: "player", player: parts[1] } : NOWHERE;
    default:
      return NOWHERE;
  }
}

function roomRoute(path: string, search: string): Route {
  const found = /^\/r\/([A-Za-z0-9._-]{1,64})(\/replay)?$/.exec(path);
  if (!found) return NOWHERE;
  return found[2] ? { page: "replay", room: found[1]!, past: pastOf(search) } : { page: "room", room: found[1]! };
}

function pastOf(search: string): PastGame | null {
  const query = new URLSearchParams(search);
  const [number, seq] = [query.get("room"), query.get("seq")].map((text) => (/^\d+$/.test(text ?? "") ? Number(text) : null));
  return number == null || seq == null ? null : { number, seq };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

export function roomPath(room: string): string {
  return `/r/${encodeURIComponent(room)}`;
}

export function replayPath(room: string, past?: PastGame): string {
  return `${roomPath(room)}/replay${past ? `?room=${past.number}&seq=${past.seq}` : ""}`;
}

export function playerPath(player: string): string {
  return `/p/${encodeURIComponent(player)}`;
}

/** How a game, or a variant of it, is played. */
export function rulesPath(game: string, variant: string | null = null): string {
  return ["/rules", game, ...(variant === null ? [] : [variant])].map((part, n) => (n ? encodeURIComponent(part) : part)).join("/");
}

/** The leaderboard of a ladder: `backgammon/fevga` is that of a variant, `backgammon/fevga/bots` or `tictactoe//bots` one of bots. */
export function ladderPath(ladder: string): string {
  const [game = "", variant = "", bots] = ladder.split("/");
  return `/leaderboard/${[game, variant].filter(Boolean).map(encodeURIComponent).join("/")}${bots ? "?bots" : ""}`;
}
