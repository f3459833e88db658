// Where the server cannot be reached, the browser shows a page of ours in the reader's language: it is kept for the
// service worker, with the words for a notification, and nothing else is.
import { games } from "./games.svelte";
import { filled } from "./language/catalogue";
import { language, t, told } from "./language/language.svelte";
import { later } from "./later";
import { botNames } from "./players";
import { settings } from "./settings.svelte";

const WORKER = "/service-worker.js";
const PAGE = "/offline.html";
const WORDS = "/turn-words.json";
const CACHE = "offline-2";

/** Let the service worker be there, once home can be used; a browser that has none, or lets none in, does without. */
export function beReadyOffline(): void {
  if (!("serviceWorker" in navigator)) return;
  void later.then(() => settings.ready).then(() => language.whole()).then(() => {
    void navigator.serviceWorker.register(address()).catch(() => undefined);
    $effect.root(() => {
      $effect(() => void keep(words()).catch(() => undefined));
      $effect(() => {
        // What an earlier page has kept says more than one that knows of no games yet, or not what they say.
        if (games.list.length && language.isTold) void keepTurnWords(turnWords()).catch(() => undefined);
      });
    });
  });
}

/** What the page says, in the language that is spoken now. */
function words(): Record<string, string> {
  const { lang, dir } = language.code ? document.documentElement : { lang: "", dir: "" };
  return {
    lang, dir,
    title: t("No connection"),
    heading: t("The server cannot be reached"),
    why: t("Either this device is offline, or the server is taking a break. Your games are kept on the server, and its clocks stand still while it is down."),
    again: t("This page tries again by itself every 15 seconds."),
    now: t("Try again now"),
  };
}

/** What a notification says when it is my turn and no page of ours is open. */
function turnWords(): object {
  return {
    title: t("Your turn"),
    alone: t("{game} waits for you", "{game}"),
    turn: t("Your turn at {game}: {names} waits", "{game}", "{names}"),
    turnOfSeveral: t("Your turn at {game}: {names} wait", "{game}", "{names}"),
    guest: t("{name} (guest)", "{name}"),
    titles: Object.fromEntries(games.list.map(({ name, display_name }) => [name, told(display_name)])),
    bots: botNames(games.list.flatMap(({ bots }) => bots)),
  };
}

async function keepTurnWords(said: object): Promise<void> {
  await (await caches.open(CACHE)).put(WORDS, Response.json(said));
}

async function keep(said: Record<string, string>): Promise<void> {
  const page = await fetch(PAGE);
  if (!page.ok) return;
  const headers = new Headers(page.headers);
  for (const size of ["content-encoding", "content-length"]) headers.delete(size); // of what came over the line
  await (await caches.open(CACHE)).put(PAGE, new Response(filled(await page.text(), said), { headers }));
}

/** The page's policy lets scripts be loaded only from addresses that a named policy has vouched for. */
function address(): string {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: { createPolicy(name: string, rules: object): Vouching } };
  return trustedTypes?.createPolicy("service-worker", { createScriptURL: () => WORKER }).createScriptURL(WORKER) ?? WORKER;
}

interface Vouching {
  createScriptURL(address: string): string;
}
