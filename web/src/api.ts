// The HTTP calls. The cookie says who asks; in a frame of the panel, its token.
import { framedFor } from "./framed";
import { t, told } from "./language/language.svelte";
import type { Problem } from "./problem";
import type {
  PublicGame, HistoryPage, Hint, KnownPlayer, Leader, MyAccount, MyEndpoint, MyNotifications, MyRoom, NamedRoom, NewAccountBy, NewInvitation, NewRoom, NewWebhook, OpenedAccount, Preferences, PublicKeyOptions, PublicPlayer, Preview, Queue, PublicRoom, RulesPage, Seated, PublicServer, Stake,
  PublicTicket, RecoveryCode, SignIn, SignInLink, WaitingBot,
} from "./wire";

/** What was asked is not done; the message is for people. */
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(told(problem.message));
  }

  get code(): string {
    return this.problem.code;
  }
}

const noAnswer = (): Problem => ({ code: "no_answer", message: t("The server does not answer. Try again in a moment.") });

async function call<T>(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T> {
  let response: Response;
  try {
    const headers: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
    if (framedFor !== null) headers["authorization"] = `bearer ${framedFor}`;
    const credentials = framedFor === null ? "same-origin" : "omit";
    response = await fetch(path, { method, headers, credentials, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  } catch {
    throw new Refusal(noAnswer());
  }
  const answer: unknown = await response.json().catch(noAnswer);
  if (!response.ok) throw new Refusal(isProblem(answer) ? answer : noAnswer());
  return answer as T;
}

function isProblem(answer: unknown): answer is Problem {
  return typeof answer === "object" && answer !== null && "code" in answer && "message" in answer;
}

/** Whether there is no such room, or none could be called so. */
export function isUnknown({ code }: Problem): boolean {
  return code === "unknown_room" || code === "not_found";
}

const at = (room: string) => `/api/rooms/${encodeURIComponent(room)}`;

export const becomePlayer = (name?: string) => call<KnownPlayer>("POST", "/api/players", name ? { name } : {});
export const account = () => call<MyAccount>("GET", "/api/account");
export const openAccount = (wish: NewAccountBy) => call<OpenedAccount>("POST", "/api/account", wish);
/** What to ask an authenticator for a passkey of mine; a guest says under which name it becomes an account. */
export const newPasskeyOptions = (name?: string) => call<PublicKeyOptions>("POST", "/api/account/passkeys/options", name ? { name } : {});
export const addPasskey = (passkey: NewAccountBy["passkey"]) => call<unknown>("POST", "/api/account/passkeys", { passkey });
export const removePasskey = (id: string) => call<unknown>("DELETE", `/api/account/passkeys/${encodeURIComponent(id)}`);
/** What to ask an authenticator for any passkey of this site. */
export const signInOptions = () => call<PublicKeyOptions>("POST", "/api/sign-in/options");
export const renewCode = () => call<RecoveryCode>("POST", "/api/account/code");
export const signInLink = () => call<SignInLink>("POST", "/api/account/links");
export const signIn = (shown: SignIn) => call<KnownPlayer>("POST", "/api/sign-in", shown);
export const signOut = (device: number) => call<unknown>("DELETE", `/api/account/devices/${device}`);
export const signOutEverywhere = () => call<KnownPlayer>("DELETE", "/api/players/me/sessions");
export const deleteAccount = () => call<unknown>("DELETE", "/api/account");
export const preferences = () => call<Preferences>("GET", "/api/players/me/preferences");
export const keepPreferences = (chosen: Preferences) => call<Preferences>("PUT", "/api/players/me/preferences", chosen);
/** Where I am told that it is my turn. */
export const notifications = () => call<MyNotifications>("GET", "/api/notifications");
export const tellBrowser = (subscription: PushSubscriptionJSON) => call<MyEndpoint>("POST", "/api/notifications/push", subscription);
export const tellWebhook = (url: string) => call<NewWebhook>("POST", "/api/notifications/webhooks", { url });
export const tellNoMore = (id: string) => call<unknown>("DELETE", `/api/notifications/${encodeURIComponent(id)}`);
export const server = () => call<PublicServer>("GET", "/api/server");
export const games = () => call<PublicGame[]>("GET", "/api/games");
/** The little board of a game, or of one of its cards. */
export const preview = (game: string, choice?: string) =>
  call<Preview>("GET", `/api/games/${encodeURIComponent(game)}/preview${choice === undefined ? "" : `?choice=${encodeURIComponent(choice)}`}`);
export const rules = (game: string, variant: string | null, language: string) =>
  call<RulesPage>("GET", `/api/games/${encodeURIComponent(game)}/rules?${new URLSearchParams({ ...(variant === null ? {} : { variant }), language })}`);
export const myRooms = () => call<MyRoom[]>("GET", "/api/players/me/rooms");
export const room = (id: string) => call<PublicRoom>("GET", at(id));
/** The room of an id that a person typed or passed on: that very one, or the only one that differs in capitals. */
export const findRoom = (id: string) => call<PublicRoom>("GET", `${at(id)}?any_case=true`);
/** Open a room that has ended once more; while it runs, just that room. */
export const openAgain = (id: string) => call<PublicRoom>("POST", `${at(id)}/again`);

/** The ratings of those who sit in a ranked room or are on the way, and what its game can make of them. */
export const stakes = (id: string) => call<Stake[]>("GET", `${at(id)}/stakes`);

export const openRoom = (wish: NewRoom) => call<PublicRoom>("POST", "/api/rooms", wish);
/** The running room of that name, or a new one. */
export const visitRoom = (id: string, wish: NamedRoom) => call<PublicRoom>("PUT", at(id), wish);
export const history = (id: string, from: number, number?: number) =>
  call<HistoryPage>(
    "GET",
    `${at(id)}/history?format=scene&limit=200&from=${from}${number === undefined ? "" : `&room=${number}`}`,
  );

/** A bot takes a free seat: the best, or this one. */
export const seatBot = (id: string, bot?: string) => call<Seated>("POST", `${at(id)}/bots`, { bot });
/** The bots over the network that can be invited to a game. */
export const invitableBots = (game: string, variant?: unknown) =>
  call<WaitingBot[]>("GET", `/api/invitations?${new URLSearchParams({ game, ...(typeof variant === "string" ? { variant } : {}) })}`);
/** A bot over the network is told of the room: it comes, or it does not. */
export const inviteBot = (invitation: NewInvitation) => call<WaitingBot>("POST", "/api/invitations", invitation);
/** What the best bot would do in my place. */
export const hint = (id: string) => call<Hint>("POST", `${at(id)}/hint`, {});

const ticketAt = (id: string) => `/api/tickets/${encodeURIComponent(id)}`;

export const takeTicket = (wanted: Queue) => call<PublicTicket>("POST", "/api/tickets", wanted);
export const tickets = () => call<PublicTicket[]>("GET", "/api/tickets");
export const giveTicketBack = (id: string) => call<PublicTicket>("DELETE", ticketAt(id));

export const leaderboard = (game: string, variant?: string, bots = false) =>
  call<Leader[]>("GET", `/api/leaderboard?${new URLSearchParams({ game, ...(variant ? { variant } : {}), ...(bots ? { bots: "true" } : {}), limit: "100" })}`);
export const player = (id: string) => call<PublicPlayer>("GET", `/api/players/${encodeURIComponent(id)}`);
