import { mount } from "svelte";
import "../src/app.css";
import Gallery from "./Gallery.svelte";
import Picture from "./Picture.svelte";
import Words from "./Words.svelte";

const PAGES: Record<string, typeof Gallery> = { "#picture": Picture, "#words": Words };

mount(PAGES[location.hash] ?? Gallery, { target: document.getElementById("app")! });
