// The page that shows the HTTP calls to people, made from the OpenAPI document.
import { type Call, type OpenApi, callsOf } from "./calls";
import { found, made } from "./elements";

function sectionOf({ title, summary, shapes, refused }: Call): HTMLElement {
  const section = made("section", "");
  const heading = made("h2", "");
  heading.append(made("code", title));
  section.append(heading, made("p", summary));
  for (const { title, shape } of shapes) section.append(made("p", title, "muted"), made("pre", shape));
  if (refused.length > 0) section.append(made("p", `refuses with ${refused.join(", ")}`, "muted"));
  return section;
}

async function show(): Promise<void> {
  const place = found("calls", HTMLDivElement);
  try {
    const answer = await fetch("/api/openapi.json");
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    place.replaceChildren(...callsOf((await answer.json()) as OpenApi).map(sectionOf));
  } catch (why) {
    place.replaceChildren(made("p", `The list could not be read (${String(why)}). Load the page again in a moment.`));
  }
}

void show();
