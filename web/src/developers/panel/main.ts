import { mount } from "svelte";
import { settings } from "../../settings.svelte";
import Panel from "./Panel.svelte";
import "../../app.css";

addEventListener("hashchange", () => location.reload()); // another key
void settings.ready.then(() => mount(Panel, { target: document.getElementById("app")! }));
