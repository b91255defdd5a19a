// The buttons of an explorable: full screen, play its story, and those in the fold: reset, copy link, save the picture.

import { element } from "./controls.js";
import { reducedMotion } from "./motion.js";
import { say } from "./sentences.js";
import shell from "./shell.json";

export function button(words, act) {
  const made = element("button", { type: "button" }, words);
  made.addEventListener("click", act);
  return made;
}

// Plays the story; null where it has a single step.
export function playButton(story) {
  if (story.steps.length < 2) return null;
  const made = button("", () => story.playOn());
  made.className = "posenc-play";
  made.tell = () => {
    const words = reducedMotion() ? shell.step : story.plays ? shell.pause : shell.play;
    [made.textContent, made.ariaLabel, made.title] = [story.plays ? "■" : "▶", words, words];
  };
  return made;
}

export function resetButton(story, settings, notify) {
  return button(shell.reset, () => {
    notify("");
    story.stop();
    settings.store(settings.opening);
  });
}

// Corners that point outwards, and inwards.
const CORNERS = ["M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4", "M6 2v4H2M14 6h-4V2M10 14v-4h4M2 10h4v4"];

// Shows `root` on the whole screen, enlarged; `zoom()` is by how much, 1 where it is not.
export function fullScreen(root, notify, changed) {
  const isOn = () => document.fullscreenElement === root;
  let zoomed = 1;
  if (!root.requestFullscreen) return { zoom: () => 1, button: null };
  const made = button("", () => {
    if (isOn()) return void document.exitFullscreen();
    zoomed = Math.min(Math.max(Math.min(screen.width / (root.offsetWidth + 60), screen.height / (root.offsetHeight + 40)), 1), 2.5);
    root.style.setProperty("--posenc-zoom", zoomed);
    root.requestFullscreen().catch((error) => notify(say(shell.no_full_screen, { error: error.name })));
  });
  const tell = () => {
    made.ariaLabel = made.title = isOn() ? shell.leave_full_screen : shell.full_screen;
    made.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${CORNERS[Number(isOn())]}"/></svg>`;
  };
  tell();
  root.addEventListener("fullscreenchange", () => {
    tell();
    changed();
  });
  return { zoom: () => (isOn() ? zoomed : 1), button: made };
}

// Copies a link to this setting; null where the page has no address for one.
export function copyButton(story, settings, notify) {
  if (!settings.model.settingLink) return null;
  return button(shell.copy, async () => {
    const step = story.present;
    const values = step ? { story: step.name } : Object.fromEntries(settings.shown.map((name) => [name, settings.get(name)]));
    const link = settings.model.settingLink(values);
    try {
      await navigator.clipboard.writeText(link);
      notify(shell.copied);
    } catch (error) {
      notify(say(shell.not_copied, { error: error.name, link }));
    }
  });
}

// Saves the picture as it is, on its ground.
export function saveButton(canvas, name, theme) {
  return button(shell.save, () => {
    const picture = element("canvas", { width: canvas.width, height: canvas.height }), context = picture.getContext("2d");
    context.fillStyle = theme().ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(canvas, 0, 0);
    element("a", { href: picture.toDataURL("image/png"), download: `${name}.png` }).click();
  });
}
