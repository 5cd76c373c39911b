import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../docs/reference/benchmarks.md');
/** Begins the second of the two parts, which are written by programs of their own. */
const videosHeading = '# Videos under load\n';

/** Replaces one part of docs/reference/benchmarks.md and leaves the other as it is. */
export function writePart(part: 'calls' | 'videos', text: string): void {
  const page = readFileSync(path, 'utf8');
  const at = page.indexOf(videosHeading);
  const [calls, videos] = at === -1 ? [page, ''] : [page.slice(0, at), page.slice(at)];
  const parts = part === 'calls' ? [text, videos] : [calls, text];
  const filled = parts.map((one) => one.trim()).filter((one) => one !== '');
  writeFileSync(path, `${filled.join('\n\n')}\n`);
}
