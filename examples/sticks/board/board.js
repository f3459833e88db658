const heap = document.querySelector("#heap");

addEventListener("message", ({ source, data }) => {
  if (source !== parent || data.type !== "state") return;
  document.documentElement.dataset.theme = data.theme;
  heap.replaceChildren(...Array.from({ length: data.view.left }, (_, at) => stick(data.view.left - at, data.legal)));
});

function stick(count, legal) {
  const event = legal.find((one) => one.count === count);
  const button = Object.assign(document.createElement("button"), { disabled: !event, ariaLabel: `take ${count}` });
  button.onclick = () => parent.postMessage({ type: "event", event }, "*");
  return button;
}
