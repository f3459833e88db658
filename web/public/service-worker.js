// Has one page for when the server cannot be reached, and the words for a notification; it keeps nothing else, for
// everything comes from the server. The pages put both there, in the reader's language.
const OFFLINE = "/offline.html";
const WORDS = "/turn-words.json";
const STYLE = "/offline.css";
const CACHE = "offline-2";

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.add(STYLE)));
});

addEventListener("activate", (event) => {
  event.waitUntil(begin());
});

async function begin() {
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
  await registration.navigationPreload?.enable(); // a page does not wait for this worker to start
}

// It is my turn somewhere, and no page of ours is open there.
addEventListener("push", (event) => {
  event.waitUntil(tell(event.data));
});

const ENGLISH = { title: "Your turn", alone: "{game} waits for you", turn: "Your turn at {game}: {names} waits", turnOfSeveral: "Your turn at {game}: {names} wait", guest: "{name} (guest)", titles: {}, bots: {} };

async function tell(data) {
  const { room, game, title, against = [], guests = [] } = data?.json() ?? {};
  if (!room) return;
  const words = { ...ENGLISH, ...(await kept(WORDS).then((file) => file?.json()).catch(() => undefined)) };
  const filling = { game: words.titles[game] ?? title, names: against.map((name, n) => (guests[n] ? words.guest.replace("{name}", () => name) : calledHere(name, words.bots))).join(", ") };
  const said = against.length > 1 ? words.turnOfSeveral : against.length ? words.turn : words.alone;
  const body = said.replace(/\{(game|names)\}/g, (_, name) => filling[name]);
  // A newer one of the same room takes the place of the older.
  await registration.showNotification(words.title, { body, tag: `turn ${room}`, icon: "/icon-192.png", badge: "/icon-192.png", data: `/r/${encodeURIComponent(room)}` });
  await navigator.setAppBadge?.().catch(() => undefined);
}

// The server's own bots are called in the reader's language; no person can have such a name.
function calledHere(name, bots) {
  const [, bot, number = ""] = /^(.+? bot)( \d+)?$/.exec(name) ?? [];
  return Object.hasOwn(bots, bot) ? bots[bot] + number : name;
}

// A notification leads to the room that it tells of: the tab that has it open, or a new one.
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(goTo(event.notification.data));
});

async function goTo(path) {
  const open = await clients.matchAll({ type: "window", includeUncontrolled: true }); // the first page came without this worker
  const there = open.find(({ url }) => new URL(url).pathname === path);
  await (there ? there.focus() : clients.openWindow(path));
}

addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  if (event.request.mode === "navigate") event.respondWith(page(event));
  else if (pathname === STYLE) event.respondWith(kept(pathname).then((file) => file ?? fetch(event.request)));
});

async function page(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (error) {
    const offline = await kept(OFFLINE);
    if (!offline) throw error;
    return offline;
  }
}

const kept = (path) => caches.open(CACHE).then((cache) => cache.match(path));
