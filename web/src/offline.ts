// Where the server cannot be reached, the browser shows a page of ours: a service worker has it, and nothing else.

const WORKER = "/service-worker.js";

/** Let the service worker be there from the next page on; a browser that has none, or lets none in, does without. */
export function beReadyOffline(): void {
  if (!("serviceWorker" in navigator)) return;
  addEventListener("load", () => void navigator.serviceWorker.register(address()).catch(() => undefined));
}

/** The page's policy lets scripts be loaded only from addresses that a named policy has vouched for. */
function address(): string {
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: { createPolicy(name: string, rules: object): Vouching } };
  return trustedTypes?.createPolicy("service-worker", { createScriptURL: () => WORKER }).createScriptURL(WORKER) ?? WORKER;
}

interface Vouching {
  createScriptURL(address: string): string;
}
