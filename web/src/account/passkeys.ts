// Passkeys, by the browser's own API: the server says what to ask, an authenticator answers, and the server judges.
import * as api from "../api";
import { framedFor } from "../framed";
import { t } from "../language/language.svelte";
import type { MyAccount, NewAccountBy } from "../wire";

/** What a page knows of where it runs. */
export interface Place {
  isSecureContext: boolean;
  location: { hostname: string; port: string };
  PublicKeyCredential?: unknown;
}

/** Why there are no passkeys, in words, and an address of this very server where there are some. */
export interface Hindrance {
  why: string;
  instead?: string;
}

/** What keeps this page from using passkeys; null where nothing does. */
export function hindranceTo(place: Place, { passkeys }: Pick<MyAccount, "passkeys">, path = "/account"): Hindrance | null {
  const { hostname, port } = place.location;
  if (passkeys === null) return { why: t("This server has no passkeys: its host has not installed them.") };
  if (!place.isSecureContext) return { why: t("Browsers use passkeys over https alone, or at localhost, and this page came over plain http.") };
  if (isLoopback(hostname)) {
    return { why: t("A passkey belongs to a site with a name, and this one was opened by its number."), instead: `http://localhost${port && `:${port}`}${path}` };
  }
  if (isNumber(hostname)) return { why: t("A passkey belongs to a site with a name, and this one was opened by its number.") };
  if (!knowsPasskeys(place.PublicKeyCredential) || framedFor !== null) return { why: t("This browser has no passkeys, or is too old for them.") };
  return null;
}

const isLoopback = (hostname: string) => /^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === "[::1]";
const isNumber = (hostname: string) => /^\d+\.\d+\.\d+\.\d+$/.test(hostname) || hostname.startsWith("[");

function knowsPasskeys(api: unknown): boolean {
  return typeof api === "function" && "parseCreationOptionsFromJSON" in api && "parseRequestOptionsFromJSON" in api;
}

type Credential = NonNullable<NewAccountBy["passkey"]>;

/** A new passkey of mine; for a guest, under the name that the account will have. */
export async function makePasskey(name?: string): Promise<Credential> {
  const { publicKey } = await api.newPasskeyOptions(name);
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey as unknown as PublicKeyCredentialCreationOptionsJSON);
  return shown(navigator.credentials.create({ publicKey: options }));
}

/** A passkey of this site, whichever its owner picks. */
export async function showPasskey(): Promise<Credential> {
  const { publicKey } = await api.signInOptions();
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey as unknown as PublicKeyCredentialRequestOptionsJSON);
  return shown(navigator.credentials.get({ publicKey: options }));
}

async function shown(asked: Promise<globalThis.Credential | null>): Promise<Credential> {
  try {
    const credential = await asked;
    if (credential instanceof PublicKeyCredential) return credential.toJSON() as Credential;
  } catch (why) {
    if (!(why instanceof DOMException)) throw why;
    throw new api.Refusal({ code: why.name, message: inWords(why.name) });
  }
  throw new api.Refusal({ code: "NotAllowedError", message: inWords("NotAllowedError") });
}

/** What a browser says when it has no passkey to show. */
export function inWords(name: string): string {
  if (name === "InvalidStateError") return t("This device, or your account with its maker, has a passkey of yours already.");
  if (name === "SecurityError") return t("Your browser uses no passkeys at this address.");
  if (name === "NotSupportedError" || name === "ConstraintError") return t("This device cannot keep a passkey of this kind.");
  return t("No passkey came: it was cancelled, took too long, or there is none for this site.");
}
