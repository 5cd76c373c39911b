import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

import { startUpstream, startWeirGateway } from './contestants.ts';
import { measure } from './measure-load.ts';
import { smallCall } from './works.ts';

const ledgerFile = 'weir.sqlite';

/** The bytes of a data directory: of its ledger, and of everything else, which is emptied or used again. */
type Sizes = { readonly ledger: number; readonly reused: number };

function sizesOf(folder: string): Sizes {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  const others = files.filter(({ name }) => name !== ledgerFile);
  const reused = others.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0);
  return { ledger: ledgerBytes(join(folder, ledgerFile)), reused };
}

/** The pages of the database, also those that are only in its log. */
function ledgerBytes(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const count = (name: 'page_count' | 'page_size'): number => Number(database.prepare(`pragma ${name}`).get()?.[name]);
    return count('page_count') * count('page_size');
  } finally {
    database.close();
  }
}

/** Waits until the folder has the same size for two seconds: all calls are in the ledger. */
async function restingSizes(folder: string): Promise<Sizes> {
  let sizes = sizesOf(folder);
  for (let turn = 0; turn < 30; turn += 1) {
    await wait(2000);
    const now = sizesOf(folder);
    if (now.ledger === sizes.ledger && now.reused === sizes.reused) return now;
    sizes = now;
  }
  throw new Error(`${folder} still grows after a minute without calls`);
}

/**
 * The bytes that a call leaves on the disk: its rows in SQLite, with their indexes. The journal and SQLite's log have a
 * size that calls do not change, so they are shown for themselves: divided by few calls they would seem to grow.
 * @param seconds how long calls are made
 */
export async function diskTable(seconds: number): Promise<string> {
  const upstream = await startUpstream();
  const weir = await startWeirGateway(upstream.port);
  try {
    measure(weir, smallCall, 1);
    const before = await restingSizes(weir.dataDirectory);
    const { perSecond } = measure(weir, smallCall, seconds);
    const calls = Math.round(perSecond * seconds);
    const after = await restingSizes(weir.dataDirectory);
    return [
      '## disk per call',
      '',
      'What a call leaves in the ledger in SQLite, with its indexes. Journal and log are used again, and do not grow.',
      '',
      '| calls | bytes per call | journal and log, MB |',
      '|---|---|---|',
      `| ${calls} | ${Math.round((after.ledger - before.ledger) / calls)} | ${(after.reused / 1e6).toFixed(0)} |`,
      '',
    ].join('\n');
  } finally {
    weir.stop();
    upstream.stop();
  }
}
