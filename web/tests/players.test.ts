import { afterEach, expect, it } from "vitest";
import { Catalogue } from "../src/language/catalogue";
import { language } from "../src/language/language.svelte";
import { who } from "../src/lobby/rooms";
import { botNames, called, toldApart } from "../src/players";
import { frames } from "../src/replay/frames";
import { heard, NOWHERE } from "../src/room/state";
import type { HistoryStep, Player, PublicRoom } from "../src/wire";

const BOT = { id: "bot:casual", name: "Casual bot", bot: true };
const SECOND = { id: "bot:casual:2", name: "Casual bot 2", bot: true };
const FOREIGN = { id: "bot:fond_of_rock:2", name: "Fond of rock bot 2", bot: true };
const EXTERNAL = { id: "abc", name: "Casual", bot: true };
const ANN = { id: "bot", name: "Casual bot" };

function speakGerman(): void {
  language.code = "de";
  language.pages = new Catalogue("de", { "{kind} bot": "Bot {kind}", "{name} sits down": "{name} setzt sich" });
  language.games = new Catalogue("de", { Casual: "Locker", Fair: "Fair" });
}

afterEach(() => {
  language.code = "en";
  language.pages = language.games = null;
});

const names = (...players: Player[]) => players.map((player) => called(player).name);

it("is as the server says it in English", () => {
  expect(names(BOT, SECOND, FOREIGN)).toEqual(["Casual bot", "Casual bot 2", "Fond of rock bot 2"]);
  expect(called(BOT)).toBe(BOT);
});

it("of a bot of the server is in the reader's language, with its number", () => {
  speakGerman();
  expect(names(BOT, SECOND, { id: "bot:fair", name: "Fair bot" })).toEqual(["Bot Locker", "Bot Locker 2", "Bot Fair"]);
});

it("of a bot for whose kind the language has no word is as the server says it", () => {
  speakGerman();
  expect(names(FOREIGN)).toEqual(["Fond of rock bot 2"]);
});

it("that people and bots over the network gave to themselves is never translated", () => {
  speakGerman();
  expect(names(EXTERNAL, ANN)).toEqual(["Casual", "Casual bot"]);
  language.code = "pseudo";
  expect(names(EXTERNAL, ANN)).toEqual(["Casual", "Casual bot"]);
});

it("of a bot is told apart from a person's by a number", () => {
  speakGerman();
  expect(toldApart([{ id: "a", name: "Bot Locker" }, BOT]).map((seat) => seat!.name)).toEqual(["Bot Locker", "Bot Locker 2"]);
});

it("of a bot is in the list of rooms and in the lines about who came", () => {
  speakGerman();
  expect(who({ seats: [BOT, SECOND] } as unknown as PublicRoom)).toBe("Bot Locker und Bot Locker 2");
  const sheet = (seats: (Player | null)[]) => ({ name: "sheet" as const, told: { seats, ended: null, coming: [] } as unknown as PublicRoom });
  const room = [sheet([EXTERNAL, null]), sheet([EXTERNAL, BOT])].reduce(heard, NOWHERE);
  expect(room.notes.map(({ text }) => text)).toEqual(["Bot Locker setzt sich"]);
});

it("of a bot in a replay is in the language that came later than the history", () => {
  const [frame] = frames([{ seq: 1, at: 0, seats: [EXTERNAL, SECOND], scene: { status: "" } } as unknown as HistoryStep]);
  expect(frame!.names).toEqual(["Casual", "Casual bot 2"]);
  speakGerman();
  expect(frame!.names).toEqual(["Casual", "Bot Locker 2"]);
  expect(frame!.seats.map((seat) => seat!.name)).toEqual(["Casual", "Bot Locker 2"]);
});

it("of a bot in a notification is found by the server's, since that comes without an id", () => {
  expect(botNames(["casual", "fair"])).toEqual({});
  speakGerman();
  expect(botNames(["casual", "fond_of_rock", "fair"])).toEqual({ "Casual bot": "Bot Locker", "Fair bot": "Bot Fair" });
});
