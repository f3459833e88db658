addEventListener("message", ({ source, data: { type, theme, view, legal } }) => {
  if (source !== parent || type !== "state") return;
  document.documentElement.style.colorScheme = theme;
  document.body.replaceChildren(...Array.from({ length: view.left }, (_, at) => {
    const count = view.left - at;
    const event = legal[count - 1];
    const onclick = () => parent.postMessage({ type: "event", event }, "*");
    return Object.assign(document.createElement("button"), { onclick, disabled: !event, ariaLabel: `take ${count}` });
  }));
});
