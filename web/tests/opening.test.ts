import { afterEach, describe, expect, it, vi } from "vitest";
import { differences, newCode, Opening } from "../src/account/opening";

const ann = { id: "ann", name: "Ann", account: true, bot: false, token: "t" };
const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

/** A server: what it does with the first call is up to the test. */
function server(first: () => Response | Promise<Response>) {
  const asked: string[] = [];
  const state = { made: false };
  const refused = (code: string) => answer(401, { code, message: code });
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    if (path === "/api/sign-in") return state.made ? answer(201, ann) : refused("bad_code");
    if (asked.filter((one) => one === path).length === 1) return first();
    if (state.made) return refused("bad_token");
    state.made = true;
    return answer(201, { ...ann, code: "AAAA" });
  });
  return { asked, state };
}

const cut = () => Promise.reject(new TypeError("network error"));

describe("opening an account", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("makes its code itself: 100 bits in groups", () => {
    expect(newCode()).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(newCode()).not.toBe(newCode());
  });

  it("finds the account of which the answer was lost", async () => {
    const { state } = server(() => ((state.made = true), cut()));
    expect((await new Opening().open("Ann", null)).id).toBe("ann");
  });

  it("finds it also if the call that was cut off is carried out only later", async () => {
    const { state, asked } = server(cut);
    const opening = new Opening();
    await expect(opening.open("Ann", null)).rejects.toMatchObject({ code: "no_answer" });
    expect(opening.inDoubt).toBe(true);
    state.made = true;
    const makePasskey = vi.fn();
    expect((await opening.open("Ann", makePasskey)).id).toBe("ann");
    expect(makePasskey).not.toHaveBeenCalled();
    expect(asked).toEqual(["/api/account", "/api/sign-in", "/api/sign-in"]);
  });

  it("says in what an account that was found differs from what was asked for last", () => {
    const wanted = { name: "Anna", byPasskey: true };
    expect(differences({ name: "Ann", passkeys: [] }, wanted)).toEqual([
      "Your account was made by an earlier try, under the name Ann.",
      "Your account was made by an earlier try, without a passkey: add one below.",
    ]);
    expect(differences({ name: "Anna", passkeys: [] }, { ...wanted, byPasskey: false })).toEqual([]);
  });

  it("knows whether it was found or made", async () => {
    server(() => answer(201, { ...ann, code: "AAAA" }));
    const made = new Opening();
    await made.open("Ann", null);
    expect(made.isFound).toBe(false);
    const { state } = server(() => ((state.made = true), cut()));
    const found = new Opening();
    await found.open("Ann", null);
    expect(found.isFound).toBe(true);
  });

  it("finds it also if that happens during the next try", async () => {
    const { state } = server(cut);
    const opening = new Opening();
    await expect(opening.open("Ann", null)).rejects.toMatchObject({ code: "no_answer" });
    const makePasskey = async () => ((state.made = true), null);
    expect((await opening.open("Ann", makePasskey)).id).toBe("ann");
  });

  it("asks nobody for an account that was refused", async () => {
    const { asked } = server(() => answer(409, { code: "name_taken", message: "taken" }));
    const opening = new Opening();
    await expect(opening.open("Ann", null)).rejects.toMatchObject({ code: "name_taken" });
    expect(asked).toEqual(["/api/account"]);
    expect((await opening.open("Anna", null)).id).toBe("ann");
  });
});
