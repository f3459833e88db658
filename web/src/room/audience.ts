// Who may see a room, and who reads what is said in it, in words.
import { listed, t } from "../language/language.svelte";
import type { PublicRoom } from "../wire";

type Sheet = Pick<PublicRoom, "watching" | "apart">;

/** Players and spectators do not read each other; where nobody watches, there is nobody to talk apart from. */
function isApart({ watching, apart }: Sheet): boolean {
  return apart && watching !== "nobody";
}

/** Who may watch, and whether the chat is kept apart. */
export function audience(sheet: Sheet): string {
  const { watching } = sheet;
  const who = { anyone: t("Anyone may watch."), link: t("Whoever has the link may watch."), nobody: t("Only those who play see this room.") }[watching];
  return isApart(sheet) ? `${who} ${t("Players and spectators talk apart.")}` : who;
}

/** Who reads what I say, where that is not everybody in the room. */
export function readers(sheet: Sheet, seated: boolean): string {
  if (!isApart(sheet)) return "";
  return seated ? t("Only players read this") : t("Only spectators read this");
}

/** Who is at a table, as its door says it. */
export function company(names: readonly string[], free: boolean, mayWatch: boolean): string {
  const [name = "", ...others] = names;
  if (free && others.length) return t("{names} are waiting for you.", listed(names));
  if (free) return name ? t("{name} is waiting for you.", name) : t("The table is free.");
  if (others.length) {
    return mayWatch
      ? t("{names} play here. Every seat is taken, but you can watch.", listed(names))
      : t("{names} play here. Every seat is taken, and only those who play may see this room.", listed(names));
  }
  return mayWatch
    ? t("{name} plays here. Every seat is taken, but you can watch.", name)
    : t("{name} plays here. Every seat is taken, and only those who play may see this room.", name);
}
