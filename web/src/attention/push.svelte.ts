// Being told in this browser while no page of ours is open, by web push: the browser subscribes, the server keeps where.
import * as api from "../api";
import { t } from "../language/language.svelte";
import { lasting } from "../storage";
import { attention, refusal } from "./attention.svelte";

const PUSHED = "pushed";
const DECLINED = "asked to push";

class Push {
  /** This browser was subscribed, as far as it remembers. */
  on = $state(lasting.getItem(PUSHED) !== null);

  /** Whether to offer it: it can be, it is not so yet, and nobody was asked in this browser before. */
  get mayOffer(): boolean {
    return isPossible() && !this.on && Notification.permission !== "denied" && lasting.getItem(DECLINED) === null;
  }

  decline(): void {
    lasting.setItem(DECLINED, "yes");
  }

  /** Subscribe, which may ask the browser's own question; gives the reason why it cannot be, or nothing. */
  async subscribe(): Promise<string> {
    this.decline(); // not to be offered again
    if (!isSecureContext) return t("Browsers can only be told by a server with https.");
    if (!isPossible()) return t("This browser cannot be told while its pages are closed.");
    if (!(await attention.allowNotifications())) return refusal();
    try {
      const { push_key } = await api.notifications();
      if (push_key === null) return t("This server does not push to browsers. A webhook works.");
      const worker = await navigator.serviceWorker.ready;
      const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: push_key });
      await api.tellBrowser(subscription.toJSON());
    } catch (why) {
      return why instanceof api.Refusal ? why.message : t("The browser could not reach its push service. Try again later.");
    }
    this.#note(true);
    return "";
  }

  /** Say once more where this browser is: somebody else may use it now, or it has moved. */
  async renew(): Promise<void> {
    if (!this.on || !isPossible()) return;
    try {
      const subscription = await current();
      if (subscription) await api.tellBrowser(subscription.toJSON());
      else this.#note(false);
    } catch {
      // The next page tries again.
    }
  }

  /** Be told in this browser no more; with an address only if that is its own, and not that of another browser of mine. */
  async unsubscribe(address?: string): Promise<void> {
    const subscription = isPossible() ? await current() : null;
    if (address !== undefined && subscription?.endpoint !== address) return;
    this.#note(false);
    await subscription?.unsubscribe(); // the server forgets it when the push service says that it is gone
  }

  #note(on: boolean): void {
    this.on = on;
    if (on) lasting.setItem(PUSHED, "yes");
    else lasting.removeItem(PUSHED);
  }
}

/** How this browser is subscribed, if it is. */
async function current(): Promise<PushSubscription | null | undefined> {
  return (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription();
}

function isPossible(): boolean {
  return isSecureContext && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
}

export const push = new Push();
