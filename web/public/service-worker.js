// Has one page for when the server cannot be reached, and keeps nothing else: everything comes from the server. The
// pages put it there, in the reader's language.
const OFFLINE = "/offline.html";
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

// A notification leads to the room that it tells of: the tab that has it open, or a new one.
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(goTo(event.notification.data));
});

async function goTo(path) {
  const open = await clients.matchAll({ type: "window" });
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
