// Which page an address means.

export type Route =
  | { readonly page: "home" }
  | { readonly page: "room"; readonly room: string }
  | { readonly page: "replay"; readonly room: string }
  | { readonly page: "nowhere" };

export function routeOf(path: string): Route {
  if (path === "/") return { page: "home" };
  const found = /^\/r\/([A-Za-z0-9._-]{1,64})(\/replay)?$/.exec(path);
  if (!found) return { page: "nowhere" };
  return { page: found[2] ? "replay" : "room", room: found[1]! };
}

export function roomPath(room: string): string {
  return `/r/${encodeURIComponent(room)}`;
}

export function replayPath(room: string): string {
  return `${roomPath(room)}/replay`;
}
