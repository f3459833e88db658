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

  /** Known to the server; asked once for all who want to know. */
  known(): Promise<KnownPlayer> {
    if (this.player) return Promise.resolve(this.player);
    this.#asking ??= becomePlayer()
      .then((player) => (this.player = player))
      .finally(() => (this.#asking = null));
    return this.#asking;
  }

  async rename(name: string): Promise<void> {
    const { id, name: before } = await this.known(); // or the server would take the name for somebody new
    if (name === before && this.named) return;
    this.player = await becomePlayer(name);
    if (this.player.id !== id) throw new Refusal({ code: "no_cookies", message: t("Your browser keeps no cookie for this page, so nobody here would know you again: allow it, and load the page anew.") });
    this.isNamed();
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
