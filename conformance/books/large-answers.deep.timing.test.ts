import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { fillStatistics, filledFromSeconds } from '../support/fill-statistics.ts';
import { measureAnswers, type MeasuredAnswers, type MeasuredQuestion } from '../support/measure-answers.ts';
import { measureBest } from '../support/measure-best.ts';
import { usualOrLong } from '../support/scale.ts';
import { skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { removal, type RunningWeir, startWeir } from '../support/start-weir.ts';

// 200,000 records are 59 MB of JSON; with buffering they took 250 MB and 1.5 s to the first byte.
const shape = { users: 50, keys: 2, models: 5, days: 400, minutes: 0 };
const records = shape.users * shape.keys * shape.models * shape.days;
const moreBytesMax = 60_000_000;
const firstByteSecondsMax = 0.3;
const body = { type: 3, startTime: filledFromSeconds, endTime: filledFromSeconds + shape.days * 86_400 };

const allQuestions = [
  ['/bill/stats', 4],
  ['/bill/excel', 1],
  ['/bill/stats', 1],
  ['/bill/csv', 1],
  ['/bill/jsonl', 1],
] as const;
const questions = allQuestions.slice(0, usualOrLong(2, allQuestions.length));

const folder = mkdtempSync(join(tmpdir(), 'weir-answers-'));
after(() => rmSync(folder, removal));

async function useSqlite(): Promise<{ readonly config: string; readonly close: () => Promise<void> }> {
  const path = join(folder, 'weir.sqlite');
  await (await openSqliteStore({ path })).close();
  const shell = openDatabase(path, { readOnly: false, busyTimeoutMs: 5000 });
  for (const statement of fillStatistics(shape)) shell.execute(statement);
  shell.close();
  return { config: '{}', close: () => Promise.resolve() };
}

async function usePostgres(): Promise<{ readonly config: string; readonly close: () => Promise<void> }> {
  const server = await startPostgres(['fsync=off']);
  await (await openPostgresStore({ url: server.url() })).close();
  for (const statement of fillStatistics(shape)) await server.query(statement);
  return { config: JSON.stringify({ database: { url: server.url() } }), close: server.close };
}

const engines = [
  ['SQLite', useSqlite, false],
  ['PostgreSQL', usePostgres, skipPostgres],
] as const;

// The usual form asks one engine: both answer by the same code, from snapshots of their own.
for (const [name, use, skip] of engines.slice(0, usualOrLong(1, engines.length))) {
  test(`${name}: an answer of many records begins at once and takes little memory, four at a time too`, { skip }, async (context) => {
    const { config, close } = await use();
    try {
      await using weir = await startWeir({
        command: 'monitor',
        config,
        dataDirectory: folder,
        environment: { WEIR_BILLING_TOKEN: 'timed-answers' },
      });
      for (const [path, atOnce] of questions) {
        await assertStreams(weir, { path, body }, atOnce, (worse) =>
          context.diagnostic(`${path}, ${atOnce} at once: ${JSON.stringify(worse)}`),
        );
      }
    } finally {
      await close();
    }
  });
}

/** Memory and first byte: with fewer processors, the first bytes of four simultaneous answers wait for each other. */
async function assertStreams(
  weir: RunningWeir,
  question: MeasuredQuestion,
  atOnce: number,
  tell: (worse: MeasuredAnswers) => void,
): Promise<void> {
  const isGood = ({ moreBytes, firstByteSeconds }: MeasuredAnswers): boolean =>
    moreBytes < moreBytesMax && firstByteSeconds < firstByteSecondsMax * atOnce;
  const best = await measureBest(() => measureAnswers(weir, question, atOnce), isGood, tell);
  assert.ok(best.moreBytes < moreBytesMax, `${question.path}, ${atOnce} at once: ${best.moreBytes / 1e6} MB more`);
  assert.ok(
    best.firstByteSeconds < firstByteSecondsMax * atOnce,
    `${question.path}, ${atOnce} at once: first byte after ${best.firstByteSeconds} s`,
  );
  if (question.path === '/bill/stats') assert.ok(best.bytes > records * 250, `${best.bytes} bytes`);
}
