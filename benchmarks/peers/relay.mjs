// The npm package ws: rooms whose members get what another says, wrapped in an envelope.
import { WebSocketServer } from "ws";

const rooms = new Map();
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false }, () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);

// Who brings no id is of the first generation: bodies are JSON, and there are no receipts.
function tellPlainly(room, by, message) {
  const To = [];
  for (const member of room.members) if (member !== by) To.push(member.id);
  const envelope = { From: [by.id], To, Time: Math.floor(Date.now() / 1000), Intent: "Peer", Body: JSON.parse(message) };
  const text = JSON.stringify(envelope);
  for (const member of room.members) if (member !== by) member.send(text);
}

function tell(room, by, own, intent, body) {
  const others = [];
  for (const member of room.members) if (member !== by) others.push(member.id);
  const envelope = {
    From: [by.id], To: others, Num: room.num++, Time: Date.now(), Intent: intent, Receipt: false,
    Body: body && body.toString("base64"),
  };
  const text = JSON.stringify(envelope);
  for (const member of room.members) if (member !== by) member.send(text);
  if (!own) return;
  const copy = own === "Welcome" ? { From: others, To: [by.id], Intent: own } : { Receipt: true };
  by.send(JSON.stringify({ ...envelope, ...copy }));
}

server.on("connection", (socket, request) => {
  const url = new URL(request.url, "http://x");
  const room = rooms.get(url.pathname) ?? { members: new Set(), num: 0 };
  rooms.set(url.pathname, room);
  const id = url.searchParams.get("id");
  socket.id = id ?? `${Date.now()}.${Math.floor(Math.random() * 2 ** 31)}`;
  room.members.add(socket);
  tell(room, socket, "Welcome", "Joiner", null);
  socket.on("message", (body) => (id ? tell(room, socket, "Receipt", "Peer", body) : tellPlainly(room, socket, body)));
  socket.on("close", () => {
    room.members.delete(socket);
    tell(room, socket, null, "Leaver", null);
  });
});
