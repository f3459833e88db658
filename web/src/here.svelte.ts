// Where the page is, and going elsewhere without loading anew.
import { routeOf, type Route } from "./routes";

class Here {
  route: Route = $state.raw(routeOf(location.pathname + location.search));

  constructor() {
    addEventListener("popstate", () => (this.route = routeOf(location.pathname + location.search)));
  }

  go(path: string): void {
    history.pushState(null, "", path);
    this.route = routeOf(path);
    scrollTo(0, 0);
  }

  /** The same place by its right address. */
  correct(path: string): void {
    history.replaceState(null, "", path);
    this.route = routeOf(path);
  }

  /** A link's click, unless it asks for a new tab. */
  follow = (event: MouseEvent & { currentTarget: HTMLAnchorElement }): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    this.go(event.currentTarget.pathname + event.currentTarget.search);
  };
}

export const here = new Here();
