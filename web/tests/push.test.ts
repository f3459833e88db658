import { beforeEach, expect, it, vi } from "vitest";

const HERE = "https://push.example/this-browser";
const kept = new Map([["pushed", "yes"]]);
const unsubscribe = vi.fn();

vi.stubGlobal("addEventListener", () => undefined);
vi.stubGlobal("document", { addEventListener: () => undefined, getElementById: () => null });
vi.stubGlobal("isSecureContext", true);
vi.stubGlobal("window", { PushManager: class {}, Notification: class {} });
vi.stubGlobal("navigator", {
  serviceWorker: { getRegistration: async () => ({ pushManager: { getSubscription: async () => ({ endpoint: HERE, unsubscribe }) } }) },
});
vi.mock("../src/storage", () => ({
  lasting: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  },
}));
vi.mock("../src/attention/attention.svelte", () => ({ attention: {}, refusal: () => "" }));
vi.mock("../src/api", () => ({}));
const { push } = await import("../src/attention/push.svelte");

beforeEach(() => unsubscribe.mockReset());

it("goes on in this browser when another one of mine is removed", async () => {
  await push.unsubscribe("https://push.example/my-phone");
  expect(unsubscribe).not.toHaveBeenCalled();
  expect(push.on).toBe(true);
});

it("ends in this browser when that is removed", async () => {
  await push.unsubscribe(HERE);
  expect(unsubscribe).toHaveBeenCalledOnce();
  expect([push.on, kept.has("pushed")]).toEqual([false, false]);
});
