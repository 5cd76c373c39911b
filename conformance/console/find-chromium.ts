import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine; undefined if it has none, and then the suites of pages are skipped. */
export function findChromium(): string | undefined {
  return places.find((place) => existsSync(place));
}
