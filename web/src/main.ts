import { mount } from "svelte";
import App from "./App.svelte";
import { beReadyOffline } from "./offline.svelte";
import { settings } from "./settings.svelte";
import "./app.css";

if (import.meta.env.PROD) beReadyOffline();

void settings.ready.then(() => mount(App, { target: document.getElementById("app")! }));
