import { mount } from "svelte";
import "../src/app.css";
import Gallery from "./Gallery.svelte";
import Picture from "./Picture.svelte";

mount(location.hash === "#picture" ? Picture : Gallery, { target: document.getElementById("app")! });
