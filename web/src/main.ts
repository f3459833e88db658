import { mount } from "svelte";
import App from "./App.svelte";
import { beReadyOffline } from "./offline";
import "./app.css";

if (import.meta.env.PROD) beReadyOffline();

export default mount(App, { target: document.getElementById("app")! });
