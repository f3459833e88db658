// Who I am: a guest with a name, or an account. The token lives in a cookie that no script can read.
import { Refusal, becomePlayer } from "./api";
import { t } from "./language/language.svelte";
import { lasting } from "./storage";
import type { KnownPlayer } from "./wire";

class Me {
  player: KnownPlayer | null = $state.raw(null);
  /** The name was chosen, not given. */
  named = $state(lasting.getItem("named") === "yes");
  /** Connects anew what knew me by the old cookie. */
  changed: () => void = () => undefined;
  #asking: Promise<KnownPlayer> | null = null;
  /** The server has known me again by what this browser keeps. */
  #isKnownAgain = false;

  /** Known to the server; asked once for all who want to know. */
  known(): Promise<KnownPlayer> {
    if (this.player) return Promise.resolve(this.player);
    this.#asking ??= becomePlayer()
      .then((player) => (this.player = player))
      .finally(() => (this.#asking = null));
    return this.#asking;
  }

  /** Before I play or watch: the name, if I typed one, is mine; refused where the browser keeps nothing to know me by. */
  async enter(typed = ""): Promise<void> {
    const { id, name: before } = await this.known(); // or the server would take the name for somebody new
    const name = typed.trim();
    const isNew = name !== "" && !(name === before && this.named);
    if (!isNew && this.#isKnownAgain) return;
    const player = await becomePlayer(isNew ? name : undefined);
    if (player.id !== id) throw new Refusal({ code: "no_cookies", message: t("Your browser keeps no cookie for this page, so nobody here would know you again: allow it, and load the page anew.") });
    this.player = player;
    this.#isKnownAgain = true;
    if (isNew) this.isNamed();
  }

  /** I have an account now, and with it another cookie. */
  become(account: KnownPlayer): void {
    this.player = account;
    this.isNamed();
    this.changed();
  }

  /** The name is mine by choice from now on. */
  isNamed(): void {
    this.named = true;
    lasting.setItem("named", "yes");
  }
}

export const me = new Me();
