// The page begins: with the recording that it carries, a live simulation, or nothing yet.

import { App } from "./app";
import { decodeBase64 } from "./data/recording";
import { Hook, makeHook } from "./hook";
import { streamAddress } from "./live/protocol";
import { LiveView } from "./live/view";
import { readStory } from "./ui/story";

declare global {
  interface Window {
    sinew: Hook;
  }
}

function begin(): void {
  const app = new App(document.getElementById("app")!, readStory());
  window.sinew = makeHook(app);
  const own = document.getElementById("recording")?.textContent?.trim();
  const address = streamAddress(window.location);
  if (own) {
    try {
      app.openBytes(decodeBase64(own));
      app.toggle();
    } catch (error) {
      app.messages.show("file", "error", "The recording in this page cannot be shown", [{ text: (error as Error).message }]);
    }
  } else if (address) {
    app.live = new LiveView(app, address);
  }
}

/** Without a picture there is still a word: the browser may have no WebGL, or have it turned off. */
function excuse(error: unknown): void {
  const words = document.createElement("p");
  words.className = "excuse";
  words.id = "excuse";
  words.textContent = `The page cannot draw here: ${(error as Error).message} It needs WebGL 2: turn on hardware acceleration in the settings of the browser, or take another browser.`;
  document.getElementById("app")!.replaceChildren(words);
}

try {
  begin();
} catch (error) {
  excuse(error);
}
