// How I like the pages. The server keeps it for me; this browser remembers it, so that the first picture is right.
import * as api from "./api";
import { language } from "./language/language.svelte";
import { me } from "./me.svelte";
import { lasting } from "./storage";
import type { Preferences } from "./wire";

export type Chosen = Readonly<Required<Preferences>>;

export const USUAL: Chosen = { sound: true, theme: "system", animation: "normal", flip: false, confirm: false, notify: false, hinted: [], language: "" };

const KEY = "settings";
const BARS = { light: "#F7F3EA", dark: "#171512" };

class Settings {
  now: Chosen = $state.raw(remembered());
  /** Why the last choice could not be kept. */
  trouble = $state("");
  /** Resolved when the pages speak the language that this browser remembers. */
  readonly ready: Promise<void>;
  #changed = false;

  constructor() {
    this.ready = this.#show();
  }

  /** Take over what the server has kept, unless I have chosen otherwise meanwhile. */
  async look(): Promise<void> {
    try {
      const kept = await api.preferences();
      if (!this.#changed) this.#take({ ...USUAL, ...kept });
    } catch {
      // What this browser remembers will do.
    }
  }

  async change(some: Preferences): Promise<void> {
    this.#changed = true;
    if (some.language !== undefined) language.forgetAddress();
    this.#take({ ...this.now, ...some });
    this.trouble = "";
    try {
      await me.known();
      await api.keepPreferences(this.now);
    } catch (why) {
      this.trouble = why instanceof Error ? why.message : String(why);
    }
  }

  #take(chosen: Chosen): void {
    this.now = chosen;
    void this.#show();
    lasting.setItem(KEY, JSON.stringify(chosen));
  }

  /** Colours and motions follow what stands at the root of the page. */
  #show(): Promise<void> {
    const { theme, animation } = this.now;
    Object.assign(document.documentElement.dataset, { theme, animation });
    for (const bar of document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]")) {
      const own = bar.media.includes("dark") ? "dark" : "light";
      bar.content = BARS[theme === "system" ? own : theme];
    }
    return language.speak(this.now.language);
  }
}

function remembered(): Chosen {
  const kept = lasting.read(KEY);
  return typeof kept === "object" ? { ...USUAL, ...kept } : USUAL;
}

export const settings = new Settings();
