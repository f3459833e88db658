// Being told without looking: sounds, vibration, the icon of the tab, and notifications while the tab is hidden.
import { t } from "../language/language.svelte";
import { settings } from "../settings.svelte";
import { lasting } from "../storage";
import type { Sound } from "./cues";

const ICON = "/icon.svg";
const ICON_WITH_BADGE = "/icon-turn.svg";
/** Milliseconds after which a move that a gesture has made has come to rest. */
const REST = 400;
const ASKED = "asked to notify";

class Attention {
  /** Somebody has pressed something here: before that, no browser lets a page be heard, and none should. */
  #touched = false;
  #badging: ReturnType<typeof setTimeout> | undefined;
  #shown: Notification | null = null;

  constructor() {
    for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, () => this.#wake(), { once: true, capture: true });
    document.addEventListener("visibilitychange", () => !document.hidden && this.#shown?.close());
  }

  /** Sounds are made ready by the first gesture, after whatever that sets in motion. */
  #wake(): void {
    if (this.#touched) return;
    this.#touched = true;
    setTimeout(() => {
      if (settings.now.sound) void import("./instrument").then(({ prepare }) => prepare()).catch(() => undefined);
    }, REST);
  }

  play(sound: Sound): void {
    if (!settings.now.sound || !this.#touched) return;
    void import("./instrument").then(({ play }) => play(sound)).catch(() => undefined);
  }

  vibrate(): void {
    if (settings.now.sound && this.#touched && matchMedia("(pointer: coarse)").matches) navigator.vibrate?.(40);
  }

  /** A dot on the icon of the tab while it is my turn; on that of an installed app how many games wait, if that is known. */
  badge(on: boolean, count?: number): void {
    if (count !== undefined) void (navigator as Badged).setAppBadge?.(count).catch(() => undefined);
    clearTimeout(this.#badging);
    // A browser draws an icon anew, which takes it longer than a frame of a moving board may take.
    const show = () => document.querySelector<HTMLLinkElement>("link[rel=icon]")?.setAttribute("href", on ? ICON_WITH_BADGE : ICON);
    this.#badging = setTimeout(show, REST);
  }

  /** Tell me, if I want that and do not look; a page that may not does nothing. */
  async notify(tag: string, title: string, body: string): Promise<void> {
    if (!document.hidden || !this.notifies) return;
    const options = { body, tag, icon: "/icon-192.png", data: location.pathname };
    try {
      this.#shown = new Notification(title, options);
      this.#shown.onclick = () => window.focus();
    } catch {
      // Phones leave it to the service worker.
      const worker = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
      await worker?.showNotification(title, options).catch(() => undefined);
    }
  }

  /** Turn notifications on, which may ask the browser's own question; false if that is refused. */
  async allowNotifications(): Promise<boolean> {
    lasting.setItem(ASKED, "yes");
    const allowed = "Notification" in window && (await Notification.requestPermission().catch(() => "denied")) === "granted";
    if (allowed && !settings.now.notify) await settings.change({ notify: true });
    return allowed;
  }

  /** Whether to offer it: it is possible, and nobody was asked in this browser before. */
  get mayOffer(): boolean {
    return permission() === "default" && lasting.getItem(ASKED) === null;
  }

  /** I want to be notified, and this browser lets me be. */
  get notifies(): boolean {
    return settings.now.notify && permission() === "granted";
  }

  declineNotifications(): void {
    lasting.setItem(ASKED, "yes");
  }
}

interface Badged {
  setAppBadge?(count: number): Promise<void>;
}

function permission(): NotificationPermission {
  return "Notification" in window ? Notification.permission : "denied";
}

export const attention = new Attention();

/** Said once, where notifications were wanted and the browser said no. */
export const refusal = () => t("Your browser does not let this page notify you. The title of the tab shows when it is your turn.");
