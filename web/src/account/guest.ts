// The guest whom a browser leaves behind when it is signed in to an account.
import * as api from "../api";
import { t } from "../language/language.svelte";
import { me } from "../me.svelte";

/** What signing in costs, in words; nothing where nobody would miss the guest. */
export async function leftBehind(): Promise<string> {
  const { id, name, account } = await me.known();
  if (account) return "";
  const [{ results, standings }, rooms] = await Promise.all([api.player(id), api.myRooms()]);
  if (!me.named && !results.length && !standings.length && rooms.every(({ status }) => status === "over")) return "";
  return t("You play here as the guest {name}. Signing in leaves that guest behind with its rating and games: nobody can play as it again.", name);
}
