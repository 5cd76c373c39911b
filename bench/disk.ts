import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { startUpstream, startWeirGateway } from './contestants.ts';
import { measure } from './measure-load.ts';
import { smallCall } from './works.ts';

function bytesOf(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Waits until the folder has the same size for two seconds: all calls are in the ledger. */
async function restingBytes(folder: string): Promise<number> {
  let bytes = bytesOf(folder);
  for (let turn = 0; turn < 30; turn += 1) {
    await wait(2000);
    const now = bytesOf(folder);
    if (now === bytes) return now;
    bytes = now;
  }
  throw new Error(`${folder} still grows after a minute without calls`);
}

/**
 * The bytes that a call leaves on the disk: ledger in SQLite with its indexes and its log, and the journal.
 * @param seconds how long calls are made
 */
export async function diskTable(seconds: number): Promise<string> {
  const upstream = await startUpstream();
  const weir = await startWeirGateway(upstream.port);
  try {
    measure(weir, smallCall, 1);
    const before = await restingBytes(weir.dataDirectory);
    const { perSecond } = measure(weir, smallCall, seconds);
    const calls = Math.round(perSecond * seconds);
    const bytes = (await restingBytes(weir.dataDirectory)) - before;
    return [
      '## disk per call',
      '',
      'What a call leaves in the data directory: ledger in SQLite with indexes and log, and the journal.',
      '',
      '| calls | bytes per call |',
      '|---|---|',
      `| ${calls} | ${Math.round(bytes / calls)} |`,
      '',
    ].join('\n');
  } finally {
    weir.stop();
    upstream.stop();
  }
}
