// Keys of the page; ui/help.ts lists them.

import type { App } from "./app";

function typing(event: KeyboardEvent): boolean {
  const node = event.target as HTMLElement;
  return node.tagName === "SELECT" || (node.tagName === "INPUT" && (node as HTMLInputElement).type !== "range" && (node as HTMLInputElement).type !== "checkbox");
}

export function listenToKeys(app: App): void {
  const acts: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => app.toggle(),
    arrowleft: (event) => app.hop(event.shiftKey ? -10 : -1),
    arrowright: (event) => app.hop(event.shiftKey ? 10 : 1),
    home: () => app.seek(-Infinity),
    end: () => app.seek(Infinity),
    "-": () => app.shiftSpeed(-1),
    "+": () => app.shiftSpeed(1),
    "=": () => app.shiftSpeed(1),
    l: () => app.toggleLoop(),
    r: () => app.live?.send({ do: "reset" }),
    n: () => app.live?.send({ do: "step" }),
    ".": () => app.stage.look("start"),
    "1": () => app.stage.look("start"),
    "2": () => app.stage.look("front"),
    "3": () => app.stage.look("side"),
    "4": () => app.stage.look("top"),
    escape: () => {
      if (app.help.open) return app.help.toggle();
      if (app.live?.gallery.visible) return app.live.gallery.show(false);
      app.select(-1);
      app.showAll();
    },
    i: () => app.isolate(app.selected),
    b: () => app.toggleLayer("bodies"),
    s: () => app.toggleLayer("lines"),
    j: () => app.toggleLayer("axes"),
    o: () => app.toggleLayer("loops"),
    c: () => app.toggleLayer("contacts"),
    f: () => app.toggleLayer("forces"),
    x: () => app.toggleLayer("trails"),
    t: () => app.togglePanel("tree"),
    p: () => app.togglePanel("side"),
    d: () => app.toggleTheme(),
    "?": () => app.help.toggle(),
  };
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    (document.activeElement as HTMLElement | null)?.blur();
    act(event);
  });
}
