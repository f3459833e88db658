"""A page for those who write clients of relays: it shows envelopes as they pass, and sends what one types."""

from parlour.server.api.docs_page import STYLE

_STYLE = """
form { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; align-items: end; }
label { display: grid; gap: .25rem; flex: 1 1 10rem; color: var(--muted); font-size: .9rem; }
input, textarea, button { font: inherit; color: inherit; background: transparent; padding: .4rem .6rem;
                          border: 1px solid var(--line); border-radius: .4rem; min-width: 0; }
textarea { font-family: ui-monospace, monospace; } button { cursor: pointer; border-color: var(--brass); }
button:disabled { opacity: .45; cursor: default; }
ol { list-style: none; padding: 0; } li { border-top: 1px solid var(--line); padding: .4rem 0; }
li code { overflow-wrap: anywhere; } li b { color: var(--brass); }
"""

_BODY = """
<h1>Relays</h1>
<p class=muted>Come into a room, see envelopes as they pass, send one. With an id you are a client of today;
without, one of the first generation, known by a cookie.</p>
<form id=door><label>Room <input id=room value=red-table required></label>
<label>Id <input id=who placeholder="from the cookie"></label>
<label>Last number <input id=last inputmode=numeric placeholder=none></label>
<button id=open>Come in</button><button id=leave type=button disabled>Leave</button></form>
<form id=desk><label>Message <textarea id=message rows=3>{"turn": 0}</textarea></label>
<button id=send disabled>Send</button></form>
<p id=state role=status class=muted>not connected</p>
<ol id=log aria-live=polite></ol>
"""

_SCRIPT = """
const at = (id) => document.getElementById(id);
let socket = null;

const made = (kind, textContent) => Object.assign(document.createElement(kind), { textContent });

function note(what, text, more) {
  const line = made("li", "");
  line.append(made("b", what + " "), made("code", text));
  if (more) line.append(made("br", ""), made("code", more));
  at("log").prepend(line);
}

function show(state, open) {
  at("state").textContent = state;
  at("send").disabled = at("leave").disabled = !open;
  at("open").disabled = open;
}

function read({ Num, Body }) {  // a body of today is base64 of bytes
  if (Num === undefined || Body === null) return "";
  return new TextDecoder().decode(Uint8Array.from(atob(Body), (sign) => sign.charCodeAt(0)));
}

at("door").onsubmit = (event) => {
  event.preventDefault();
  const query = new URLSearchParams();
  if (at("who").value) query.set("id", at("who").value);
  if (at("who").value && at("last").value) query.set("lastnum", at("last").value);
  const room = at("room").value.split("/").map(encodeURIComponent).join("/");
  const url = new URL(`/g/${room}?${query}`, location);
  url.protocol = url.protocol.replace("http", "ws");
  socket = new WebSocket(url);
  show("connecting to " + url, true);
  socket.onopen = () => show("connected to " + url.pathname, true);
  socket.onmessage = ({ data }) => {
    const envelope = JSON.parse(data);
    note("got", data.trim(), read(envelope));
    at("last").value = envelope.Num ?? "";
  };
  socket.onclose = ({ code, reason }) => {
    show(`closed ${code} ${reason}`, false);
    if (code === 4000) at("last").value = "";
  };
};
at("leave").onclick = () => socket.close();
at("desk").onsubmit = (event) => {
  event.preventDefault();
  socket.send(at("message").value);
  note("sent", at("message").value);
};
"""


def relay_page() -> str:
    """The page, whole: it needs nothing else."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>Parlour: relays</title><style>{STYLE}{_STYLE}</style>{_BODY}"
        f"<script type=module>{_SCRIPT}</script></html>"
    )
