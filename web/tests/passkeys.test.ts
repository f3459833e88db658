import { describe, expect, it } from "vitest";
import { hindranceTo, inWords, type Place } from "../src/account/passkeys";

const knows = Object.assign(() => undefined, { parseCreationOptionsFromJSON: 1, parseRequestOptionsFromJSON: 1 });
const at = (hostname: string, isSecureContext: boolean, port = "8000"): Place => ({ isSecureContext, location: { hostname, port }, PublicKeyCredential: knows });
const why = (place: Place, passkeys: [] | null = []) => hindranceTo(place, { passkeys })?.why;

describe("passkeys", () => {
  it("can be had over https and at localhost", () => {
    expect(why(at("games.example", true))).toBeUndefined();
    expect(why(at("localhost", true))).toBeUndefined();
  });

  it("cannot be had over plain http, by a number, in an old browser, or where the host has none, and the page says why", () => {
    expect(why(at("club.example", false))).toContain("plain http");
    expect(why(at("192.168.1.7", false))).toContain("plain http");
    expect(why(at("192.168.1.7", true))).toContain("number");
    expect(why(at("[2001:db8::1]", true))).toContain("number");
    expect(why({ ...at("games.example", true), PublicKeyCredential: undefined })).toContain("too old");
    expect(why(at("games.example", true), null)).toContain("has not installed them");
  });

  it("lead from this machine's number to its name", () => {
    for (const hostname of ["127.0.0.1", "127.8.8.8", "[::1]"]) {
      expect(hindranceTo(at(hostname, true), { passkeys: [] })?.instead).toBe("http://localhost:8000/account");
    }
    expect(hindranceTo(at("127.0.0.1", true, ""), { passkeys: [] })?.instead).toBe("http://localhost/account");
    expect(hindranceTo(at("192.168.1.7", true), { passkeys: [] })?.instead).toBeUndefined();
  });

  it("that do not come are explained, whatever the browser calls it", () => {
    const said = ["InvalidStateError", "SecurityError", "NotSupportedError", "NotAllowedError", "whatever"].map(inWords);
    expect(new Set(said).size).toBe(4);
    expect(said[3]).toBe(said[4]);
  });
});
