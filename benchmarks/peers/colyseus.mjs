// Colyseus with noughts and crosses in a room of two; a move is told at once, not at the next tick. With the word
// `endless` the board is wiped after eight marks, so that a game never ends.
import { Room, Server } from "@colyseus/core";
import { ArraySchema, Schema, defineTypes } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";

const ENDLESS = process.argv.includes("endless");
const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

class Board extends Schema {
  constructor() {
    super();
    this.cells = new ArraySchema(...Array(9).fill(""));
    this.turn = 0;
    this.over = "";
  }
}
defineTypes(Board, { cells: ["string"], turn: "uint8", over: "string" });

class TicTacToe extends Room {
  onCreate() {
    this.maxClients = 2;
    this.setPatchRate(null);
    this.setState(new Board());
    this.seats = [];
    this.onMessage("mark", (client, cell) => this.mark(client.sessionId, cell));
  }

  onJoin(client) {
    this.seats.push(client.sessionId);
  }

  mark(who, cell) {
    const { cells, turn, over } = this.state;
    if (over || this.seats[turn] !== who || cells[cell] !== "") return;
    cells[cell] = "XO"[turn];
    if (ENDLESS && cells.filter((mark) => mark === "").length === 1) cells.forEach((_, at) => (cells[at] = ""));
    this.state.turn = 1 - turn;
    if (LINES.some(([a, b, c]) => cells[a] !== "" && cells[a] === cells[b] && cells[a] === cells[c]))
      this.state.over = "XO"[turn];
    else if (!cells.includes("")) this.state.over = "draw";
    this.broadcastPatch();
  }
}

const transport = new WebSocketTransport({ pingInterval: 0 });
const server = new Server({ transport, greet: false });
server.define("tictactoe", TicTacToe);
await server.listen(0);
console.log(`http://127.0.0.1:${transport.server.address().port}`);
