// A page for those who write clients of relays: it shows envelopes as they pass, and sends what one types.
import { found, made } from "./elements";
import { addressOf, bodyOf, type Envelope } from "./envelopes";

const [room, who, last] = ["room", "who", "last"].map((id) => found(id, HTMLInputElement)) as [
  HTMLInputElement, HTMLInputElement, HTMLInputElement,
];
const [open, leave, send] = ["open", "leave", "send"].map((id) => found(id, HTMLButtonElement)) as [
  HTMLButtonElement, HTMLButtonElement, HTMLButtonElement,
];
const message = found("message", HTMLTextAreaElement);
const state = found("state", HTMLParagraphElement);
const log = found("log", HTMLOListElement);
let socket: WebSocket | null = null;

function note(what: string, text: string, more = ""): void {
  const line = made("li", "");
  line.append(made("b", `${what} `), made("code", text));
  if (more) line.append(made("br", ""), made("code", more));
  log.prepend(line);
}

function show(words: string, isOpen: boolean): void {
  state.textContent = words;
  send.disabled = leave.disabled = !isOpen;
  open.disabled = isOpen;
}

found("door", HTMLFormElement).onsubmit = (event) => {
  event.preventDefault();
  const url = addressOf(room.value, who.value, last.value, location.href);
  socket = new WebSocket(url);
  show(`connecting to ${url}`, true);
  socket.onopen = () => show(`connected to ${url.pathname}`, true);
  socket.onmessage = ({ data }: MessageEvent<string>) => {
    const envelope = JSON.parse(data) as Envelope;
    note("got", data.trim(), bodyOf(envelope));
    last.value = envelope.Num?.toString() ?? "";
  };
  socket.onclose = ({ code, reason }) => {
    show(`closed ${code} ${reason}`, false);
    if (code === 4000) last.value = "";
  };
};
leave.onclick = () => socket?.close();
found("desk", HTMLFormElement).onsubmit = (event) => {
  event.preventDefault();
  socket?.send(message.value);
  note("sent", message.value);
};
