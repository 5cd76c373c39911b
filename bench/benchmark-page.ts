import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../docs/reference/benchmarks.md');

/** The first lines of the parts, in their order; each is written by a program of its own. */
const headings = {
  calls: '# Benchmarks\n',
  books: '# The cost of the books per call\n',
  signing: '# The cost of a signature per call\n',
  videos: '# Videos under load\n',
  sqlite: '# The console with SQLite\n',
  postgres: '# The console with PostgreSQL\n',
  paints: '# What a person waits for in the console\n',
  watchers: '# What open consoles cost\n',
  watchersOnPostgres: '# What open consoles cost with PostgreSQL\n',
  start: '# What the console adds to installation and start\n',
  tested: '# Figures that are tests\n',
};

/** Replaces one part of docs/reference/benchmarks.md and leaves the others as they are. */
export function writePart(part: keyof typeof headings, text: string): void {
  const page = readFileSync(path, 'utf8');
  const starts = Object.values(headings).map((heading) => page.indexOf(heading));
  const parts = Object.entries(headings).map(([name, heading]) => {
    const start = page.indexOf(heading);
    if (name === part) return text.trim();
    if (start === -1) return '';
    const end = Math.min(...starts.filter((each) => each > start), page.length);
    return page.slice(start, end).trim();
  });
  writeFileSync(path, `${parts.filter((each) => each !== '').join('\n\n')}\n`);
}
