import { existsSync } from 'node:fs';

/** First the shell without windows: a page takes a third of the processor time that it takes in the whole browser. */
const places = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine; undefined if it has none, and then the suites of pages are skipped. */
export function findChromium(): string | undefined {
  return places.find((place) => existsSync(place));
}
