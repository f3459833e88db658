// Made from the Python types by scripts/wire-types. Do not edit: change those and run it again.

/** A thing of a scene as a patch gives it: its id, and the fields that changed; whole, if it is new. */
export type Change<Thing extends { id: string }> = Partial<Thing> & { id: string };

/** How long a player may be away in a game, all told; the time to think stands still meanwhile. */
export interface Absence {
  seconds: number;
  at_zero?: "bot" | "claim" | "lose";
}

/** Who added which bytes to a seed. */
export interface AddedLuck {
  player: string;
  luck: string;
}

/** One choice of a setting in words: a title, and a line that says what it is like. */
export interface Card {
  title: string;
  hint?: string;
}

/** The changes that follow. */
export interface ChangedRooms {
  gone: string[];
  rooms: PublicRoom[];
}

/** Somebody said something. */
export interface ChatLine {
  account?: boolean;
  at: number;
  from: string;
  name: string;
  seq: number;
  text: string;
}

/** Something that viewers choose for themselves: their browser keeps it, the game never hears of it. */
export interface Choice {
  id: string;
  text: string;
}

/** Preferences as somebody sends them: all of them, those left out as they usually are. */
export interface ChosenPreferences {
  sound?: boolean;
  theme?: "dark" | "light" | "system";
  animation?: "fast" | "none" | "normal";
  flip?: boolean;
  confirm?: boolean;
  notify?: boolean;
  hinted?: string[];
  language?: string;
}

/** A clock that stands at *seconds*, or runs from there since *at* on the room's clock. */
export interface Clock {
  seconds: number;
  at?: number | null;
  down?: boolean;
  seat?: number | null;
}

/** How time is given: for each turn, or for the game with seconds that a turn adds or does not count. */
export interface ClockSettings {
  kind: "delay" | "increment" | "none" | "turn";
  seconds?: number;
  extra?: number;
  at_zero?: "bot" | "claim" | "lose";
  away?: Absence | null;
}

/** The clocks of all seats. */
export interface Clocks {
  settings: ClockSettings;
  seats: SeatClock[];
  started?: boolean;
  away?: SeatClock[];
}

/** The room is over. */
export interface Closing {
  reason: string;
}

/** Something to press beside the board: a button, a choice of several, or a small form. */
export interface Control {
  id: string;
  text: string;
  event?: unknown;
  options?: Option[];
  fields?: Record<string, unknown> | null;
  main?: boolean;
  key?: string;
  confirm?: string;
  auto?: string;
  aside?: boolean;
}

/** A board, drawn as in a room. */
export interface Diagram {
  is: "diagram";
  scene: Scene;
  caption: string;
}

/** Come into a room, or come back to it with the seq of the last update that was seen. */
export interface Enter {
  since?: number | null;
  format?: "scene" | "text" | "view";
  spectate?: boolean;
  luck?: string | null;
  legal?: boolean;
  plays?: string[] | null;
}

/** Why the last message to an endpoint did not arrive. */
export interface Failure {
  date: number;
  code: "bad_address" | "bad_status" | "gone" | "not_reached";
  why: string;
}

/** Something that the game tells. */
export interface GameEvent {
  payload: unknown;
  seq: number;
}

/** How a game ended for one of its players, and where its replay is. */
export interface GameResult {
  player: string;
  how: "drew" | "lost" | "won";
  why: string;
  game: string;
  ladder: string;
  against: Player[];
  room: string;
  number: number;
  seq: number;
  date: number;
  ranked?: boolean;
  listed?: boolean;
  rating_before?: number | null;
  rating_after?: number | null;
}

/** Leave the game for good. */
export interface GiveUpSeat {
  id?: string | null;
}

/** A heading; the page's own title is none of them. */
export interface Heading {
  is: "heading";
  level: number;
  runs: Run[];
}

/** Everything that is known of one key of the presence. */
export interface Here {
  metas: Meta[];
}

/** What a bot would do in the player's place; None: nothing. */
export interface Hint {
  bot: string;
  event: unknown;
}

/** A part of a room's history. */
export interface HistoryPage {
  id: string;
  room: number;
  game: string;
  seq: number;
  steps: HistoryStep[];
}

/** One step: what was said, and what there was to see after it. */
export interface HistoryStep {
  seq: number;
  at: number;
  seats?: (Player | null)[];
  pushes?: Said[];
  view?: unknown;
  scene?: Scene;
  patch?: Patch;
  result?: Result | null;
  draws?: [number, number][];
}

/** The answer to a join. */
export interface JoinAnswer {
  game: string;
  player: string;
  seat: number | null;
  seq: number;
  token?: string;
}

/** A player and the token that proves who they are. */
export interface KnownPlayer {
  id: string;
  name: string;
  token: string;
  account: boolean;
  bot: boolean;
}

/** One setting in words; whatever is left out is made of its name and its description in the schema. */
export interface Label {
  title?: string;
  hint?: string | null;
  unit?: string;
  empty?: string;
  group?: string;
  choices?: Record<string, Card>;
}

/** A standing on a leaderboard. */
export interface Leader {
  ladder: string;
  player: string;
  name: string;
  rating?: Rating;
  won?: number;
  lost?: number;
  drew?: number;
  streak?: number;
  longest?: number;
  played?: number;
  guest?: boolean;
}

/** A stroke across the board, drawn as by hand: of a grid, or through what won. */
export interface Line {
  x: number;
  y: number;
  to_x: number;
  to_y: number;
  owner?: number | null;
}

/** A list, numbered if it is ordered. */
export interface Listing {
  is: "list";
  ordered: boolean;
  items: ((Heading | Paragraph | Listing | Table | Preformatted | Diagram)[])[];
}

/** Told at the lobby: there is a room, and this player has a seat in it. */
export interface Matched {
  ticket: string;
  room: string;
  game: string;
}

/** One connection of somebody who is here; or, under ``spectators``, how many watch. */
export interface Meta {
  account?: boolean;
  again?: boolean;
  bot?: boolean;
  count?: number;
  name?: string;
  phx_ref: string;
  phx_ref_prev?: string;
  seat?: number;
}

/** Who I am, and on which devices I am signed in; a guest has none. */
export interface MyAccount {
  id: string;
  name: string;
  since: number | null;
  devices: SignedInDevice[];
  passkeys: MyPasskey[] | null;
}

/** A place where I am told that it is my turn. */
export interface MyEndpoint {
  id: string;
  kind: "push" | "webhook";
  url: string;
  name: string;
  since: number;
  failure: Failure | null;
}

/** Where I am told that it is my turn. */
export interface MyNotifications {
  push_key: string | null;
  endpoints: MyEndpoint[];
}

/** A passkey of an account. */
export interface MyPasskey {
  id: string;
  name: string;
  domain: string;
  since: number;
  used: number;
}

/** A room in which I have a seat. */
export interface MyRoom {
  id: string;
  game: string;
  config: Record<string, unknown>;
  status: string;
  seats: (Player | null)[];
  least: number;
  score: number[];
  spectators: number;
  seq: number;
  outcome: Outcome | null;
  ended: string | null;
  private: boolean;
  listed: boolean;
  watching: "anyone" | "link" | "nobody";
  apart: boolean;
  clock: ClockSettings | null;
  coming: Player[];
  ranked: boolean;
  created: number;
  seed_hash: string;
  seeds: ShownSeed[];
  waits_for_you?: boolean | null;
}

/** A room under a name of one's own: the running one, or a new one. */
export interface NamedRoom {
  game: string;
  config?: Record<string, unknown>;
  private?: boolean;
  listed?: boolean;
  watching?: "anyone" | "link" | "nobody";
  apart?: boolean;
  clock?: ClockSettings | null;
}

/** The same board on a screen that is higher than wide: its size, and where spots are then. */
export interface Narrow {
  width: number;
  height: number;
  places?: Record<string, [number, number, number, number]>;
}

/** An account, with a passkey if one was made for it. */
export interface NewAccountBy {
  name?: string | null;
  passkey?: Record<string, unknown> | null;
  code?: string | null;
}

/** A bot that is to play. */
export interface NewBot {
  bot?: string | null;
}

/** A bot that plays over the network, and the room to which it is invited. */
export interface NewInvitation {
  room: string;
  bot: string;
}

/** A passkey to add to an account. */
export interface NewPasskey {
  passkey: Record<string, unknown>;
}

/** A guest, with a name if they want one. */
export interface NewPlayer {
  name?: string | null;
  bot?: boolean | null;
}

/** A room to open. */
export interface NewRoom {
  game: string;
  config?: Record<string, unknown>;
  id?: string | null;
  private?: boolean;
  listed?: boolean;
  watching?: "anyone" | "link" | "nobody";
  apart?: boolean;
  clock?: ClockSettings | null;
}

/** A webhook that was just added. */
export interface NewWebhook {
  id: string;
  kind: "push" | "webhook";
  url: string;
  name: string;
  since: number;
  failure: Failure | null;
  secret: string;
}

/** What is on offer among the players of a room, and whether they have paused their game. */
export interface Offers {
  open?: OpenOffer | null;
  declined?: OpenOffer[];
  paused?: number | null;
}

/** An offer: of what, by whom, and who has agreed to it so far. */
export interface OpenOffer {
  what: "draw" | "pause" | "resume" | "takeback";
  by: string;
  agreed?: string[];
}

/** The whole list, for a client that joins the lobby. */
export interface OpenRooms {
  rooms: PublicRoom[];
}

/** A new account, and the code that signs it in on other devices: it is shown once. */
export interface OpenedAccount {
  id: string;
  name: string;
  token: string;
  account: boolean;
  bot: boolean;
  code: string;
}

/** One of several ways to choose. */
export interface Option {
  text: string;
  event: unknown;
}

/** How a game ended: who won, who lost, who drew, and why in a few words. */
export interface Outcome {
  won?: string[];
  lost?: string[];
  drew?: string[];
  why?: string;
  points?: Record<string, number>;
}

/** What a game's own board page is told; the server adds it where a game has such a page. */
export interface OwnPage {
  version: string;
  view?: unknown;
  legal?: unknown[] | null;
}

/** A paragraph. */
export interface Paragraph {
  is: "paragraph";
  runs: Run[];
}

/** What turns one scene into the next: first *gone*, then the rest. */
export interface Patch {
  gone?: string[];
  spots?: Change<Spot>[];
  pieces?: Change<Piece>[];
  controls?: Change<Control>[];
  log?: string[];
  set?: Partial<Scene>;
}

/** Something that stands on a spot and may move to another. The order of pieces means nothing. */
export interface Piece {
  id: string;
  look: string;
  spot: string;
  at?: number;
  owner?: number | null;
  text?: string;
  glyph?: string;
  label?: string;
  mark?: "last" | "win" | "wrong" | null;
  dim?: boolean;
  via?: string | null;
  click?: unknown;
  unless?: string;
  drops?: Record<string, unknown>;
  tone?: number;
  count?: number;
}

/** Ask for a rematch. */
export interface PlayAgain {
  id?: string | null;
}

/** A person or a bot with an id that lasts. */
export interface Player {
  id: string;
  name: string;
  bot?: boolean;
  account?: boolean;
}

/** How a player likes the pages; rules and rooms never see it. */
export interface Preferences {
  sound?: boolean;
  theme?: "dark" | "light" | "system";
  animation?: "fast" | "none" | "normal";
  flip?: boolean;
  confirm?: boolean;
  notify?: boolean;
  hinted?: string[];
  language?: string;
}

/** Text that is shown as it is written. */
export interface Preformatted {
  is: "code";
  text: string;
}

/** Who came and who went, as Phoenix tells it. */
export interface PresenceDiff {
  joins: Record<string, Here>;
  leaves: Record<string, Here>;
}

/** Some settings under one title: whoever chooses it need not know them. */
export interface Preset {
  title: string;
  config?: Record<string, unknown>;
  hint?: string;
  row?: string;
}

/** A little board of a game to look at, after some moves at random. */
export interface Preview {
  scene: Scene | null;
}

/** The body of every refusal over HTTP. */
export interface Problem {
  code: string;
  message: string;
  reason: string;
  path?: string | null;
  legal?: unknown[] | null;
}

/** A game that can be played here. */
export interface PublicGame {
  name: string;
  display_name: string;
  seats: [number, number];
  spectators: number | null;
  version: number;
  config_schema: Record<string, unknown>;
  set_up: SetUp;
  bots: string[];
  timeouts: Waits;
  first_move: string;
  lucky: boolean;
  offers: string[];
  clocks: boolean;
}

/** What the browser's own API is asked for a passkey, as JSON; good for one answer within five minutes. */
export interface PublicKeyOptions {
  publicKey: Record<string, unknown>;
}

/** A player as anybody may see them: where they stand, and their last games. */
export interface PublicPlayer {
  id: string;
  name: string;
  bot: boolean;
  guest: boolean;
  standings: Standing[];
  results: GameResult[];
  ratings: RatingPoint[];
}

/** A room as anybody may see it. */
export interface PublicRoom {
  id: string;
  game: string;
  config: Record<string, unknown>;
  status: string;
  seats: (Player | null)[];
  least: number;
  score: number[];
  spectators: number;
  seq: number;
  outcome: Outcome | null;
  ended: string | null;
  private: boolean;
  listed: boolean;
  watching: "anyone" | "link" | "nobody";
  apart: boolean;
  clock: ClockSettings | null;
  coming: Player[];
  ranked: boolean;
  created: number;
  seed_hash: string;
  seeds: ShownSeed[];
}

/** This server, as its pages and clients need to know it. */
export interface PublicServer {
  version: string;
  address: string | null;
}

/** A ticket, as its player may see it. */
export interface PublicTicket {
  id: string;
  game: string;
  config: unknown;
  mode: "bot" | "normal" | "ranked";
  status: string;
  room: string | null;
  waited: number;
  clock?: ClockSettings | null;
}

/** At the lobby: take a ticket. */
export interface Queue {
  game: string;
  config?: Record<string, unknown>;
  mode?: "bot" | "normal" | "ranked";
  bot?: string | null;
  clock?: ClockSettings | null;
  brings_luck?: boolean;
}

/** What is believed of a player's strength, and how firmly. */
export interface Rating {
  rating?: number;
  deviation?: number;
  volatility?: number;
}

/** A player's rating on a ladder after one of their games. */
export interface RatingPoint {
  ladder: string;
  date: number;
  rating: number;
}

/** A code that signs an account in on other devices: it is shown once. */
export interface RecoveryCode {
  code: string;
}

/** How a game ended, and the seed that proves its luck; the hash is that of the seed now in use. */
export interface Result {
  outcome: Outcome;
  seed: string;
  seed_hash: string;
  verdict?: "agreed" | "flagged" | "resigned" | null;
  added?: AddedLuck[];
}

/** How a game, or a variant of it, is played. */
export interface RulesPage {
  title: string;
  blocks: (Heading | Paragraph | Listing | Table | Preformatted | Diagram)[];
  language?: string;
}

/** Some words that look alike. */
export interface Run {
  text: string;
  strong?: boolean;
  em?: boolean;
  code?: boolean;
  href?: string;
}

/** A push of the native socket: its name and payload. */
export interface Said {
  name: string;
  payload: unknown;
}

/** All that one viewer's browser draws of a game. Ids are unique in it and tell no secret. */
export interface Scene {
  width?: number;
  height?: number;
  spots?: Spot[];
  pieces?: Piece[];
  controls?: Control[];
  lines?: Line[];
  status?: string;
  turn?: number[];
  sides?: Side[];
  second?: string;
  choices?: Choice[];
  clocks?: Clock[];
  log?: string[];
  cue?: "" | "capture" | "check" | "deal" | "move" | "win";
  text?: string;
  waiting?: boolean;
  narrow?: Narrow | null;
  pictures?: Record<string, string>;
  page?: OwnPage | null;
}

/** The time of one seat: to think, or to be away. */
export interface SeatClock {
  left: number;
  since?: number | null;
  out?: boolean;
  spent?: number;
}

/** A bot that took a seat, and the seq of that step. */
export interface Seated {
  player: Player;
  seat: number;
  seq: number;
}

/** Say something. */
export interface SendChat {
  text: string;
  id?: string | null;
}

/** Play; with the seq of what the player saw, only if nothing that they see has changed since. */
export interface SendEvent {
  event: unknown;
  id?: string | null;
  seq?: number | null;
}

/** What a game says about its config to people. A field that is named nowhere stands under "More". */
export interface SetUp {
  cards?: string | null;
  presets?: Preset[];
  labels?: Record<string, Label>;
  usual?: Record<string, unknown>;
  negotiable?: string[];
}

/** A seed that an outcome made public: it drew for these steps. */
export interface ShownSeed {
  first: number;
  last: number;
  seed: string;
  added?: AddedLuck[];
}

/** What stands beside a player's name; the first is that of seat 0. */
export interface Side {
  look?: string | null;
  text?: string;
  score?: string;
  unless?: string;
}

/** Somebody who shows that an account is theirs, by one of these. */
export interface SignIn {
  code?: string | null;
  link?: string | null;
  passkey?: Record<string, unknown> | null;
}

/** A link that signs one device in, once. */
export interface SignInLink {
  path: string;
  lasts: number;
}

/** A device on which an account is signed in. */
export interface SignedInDevice {
  number: number;
  name: string;
  since: number;
  seen: number;
  here: boolean;
}

/** A place on the board: a square, a point, a tray, or only a surface under others. */
export interface Spot {
  id: string;
  x: number;
  y: number;
  w?: number;
  h?: number;
  shape?: "down" | "hand" | "hex" | "node" | "path" | "pile" | "polygon" | "round" | "square" | "tray" | "up";
  fill?: "dark" | "felt" | "light" | "none" | "paper" | "raised" | "red" | "sunken" | "water" | "wood";
  text?: string;
  tone?: number;
  label?: string;
  mark?: "last" | "win" | "wrong" | null;
  click?: unknown;
  second?: unknown;
  owner?: number | null;
  points?: [number, number][];
}

/** A player's rating before a game, and what it will be after a win, a draw and a loss. */
export interface Stake {
  player: string;
  rating: number;
  won?: number | null;
  drew?: number | null;
  lost?: number | null;
}

/** A player on a ladder. */
export interface Standing {
  ladder: string;
  player: string;
  name: string;
  rating?: Rating;
  won?: number;
  lost?: number;
  drew?: number;
  streak?: number;
  longest?: number;
  played?: number;
}

/** Done, and kept as this step. */
export interface Stepped {
  seq: number;
}

/** Everything that a viewer may know: a view, in format ``text`` as text; in ``scene`` a scene. */
export interface Sync {
  clocks?: Clocks;
  fault?: string;
  legal?: unknown[] | null;
  now?: number;
  offers?: Offers;
  reset?: boolean;
  result?: Result;
  scene?: Scene;
  seq: number;
  view?: unknown;
}

/** A table: the cells of its head, and of each row. */
export interface Table {
  is: "table";
  head: Run[][];
  rows: Run[][][];
}

/** Told at the lobby: this ticket is void, and why. */
export interface Unqueued {
  ticket: string;
  reason: string;
}

/** The end of a step: what changed for this viewer. */
export interface Updated {
  clocks?: Clocks;
  legal?: unknown[] | null;
  now?: number;
  offers?: Offers;
  patch?: Patch;
  result?: Result | null;
  seq: number;
  view?: unknown;
}

/** A bot that plays over the network and waits to be invited. */
export interface WaitingBot {
  id: string;
  name: string;
  bot?: boolean;
  account?: boolean;
  rating?: Rating | null;
}

/** How many seconds a room of a game waits; null: for ever. */
export interface Waits {
  game: number | null;
  away: number | null;
  nobody: number | null;
  empty: number | null;
  ends_under_players: boolean;
}

/** The codes of Parlour's own refusals; a game may have others. */
export type Code = "account_needed" | "already_an_account" | "already_queued" | "bad_address" | "bad_code" | "bad_passkey" | "bad_token" | "challenge_expired" | "game_error" | "game_full" | "game_over" | "game_overran" | "game_paused" | "id_reused" | "illegal_move" | "internal_error" | "invalid_config" | "invalid_name" | "invalid_text" | "link_expired" | "malformed" | "name_taken" | "no_passkeys" | "no_push" | "no_spectators" | "no_such_offer" | "not_found" | "not_in_this_game" | "not_joined" | "not_over" | "not_saved" | "not_seated" | "not_your_turn" | "offer_declined" | "offer_open" | "outcome_unknown" | "room_damaged" | "room_ended" | "rules_changed" | "seat_kept" | "stale" | "too_fast" | "too_large" | "too_late" | "too_many" | "unknown_bot" | "unknown_event" | "unknown_game" | "unknown_room" | "unknown_ticket" | "wrong_game";

/** What is told in a room: payloads by name. */
export interface Pushes {
  sync: Sync;
  update: Updated;
  game_event: GameEvent;
  chat: ChatLine;
  shutdown: Closing;
  presence_state: Record<string, Here>;
  presence_diff: PresenceDiff;
}
