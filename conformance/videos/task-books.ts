import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { RunningSimulator } from 'weir-simulator';

import { loadShippedPriceBook } from '../../src/billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../src/billing/rating/price-book.ts';
import { readRows } from '../audio/audio-weir.ts';
import { type Answer, post } from '../support/http.ts';

/** A video of a test: each has a prompt of its own, by which its jobs at the simulator are found. */
export type MadeVideo = { readonly id: string; readonly prompt: string };

export type TaskAudit = {
  /** Every problem, one sentence each. */
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
};

type AuditOptions = {
  readonly simulator: Pick<RunningSimulator, 'videos'>;
  readonly dataDirectory: string;
  readonly ask: (path: string) => Promise<Answer>;
};

const framesPerSecond = 24;
const priceBook = createPriceBook({ book: loadShippedPriceBook() });

/** The cost of a video of the simulator, in billionths of a dollar, by its length. */
function priceOf(row: ReturnType<typeof readRows>[number], outputVideoMs: number): bigint {
  const { vendor, upstreamModel, requestedModel, acceptedAtMs, usage, pricingParameters } = row;
  const further = pricingParameters === undefined ? {} : { pricingParameters };
  return priceBook.rate({ vendor, upstreamModel, requestedModel, acceptedAtMs, usage: { ...usage, outputVideoMs }, ...further })
    .amountNanoUsd;
}

/** The files of a data directory's media folder: complete ones, and incomplete ones. */
export function mediaFiles(dataDirectory: string): { readonly whole: readonly string[]; readonly unfinished: readonly string[] } {
  const root = join(dataDirectory, 'media');
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const isUnfinished = (path: string): boolean => path.startsWith(join(root, 'unfinished'));
  return { whole: paths.filter((path) => !isUnfinished(path)), unfinished: paths.filter(isUnfinished) };
}

/** Changes the simulator's behaviour for the job of a prompt. */
export async function steerJob(simulator: Pick<RunningSimulator, 'videos' | 'controlUrl'>, prompt: string, video: string): Promise<void> {
  const id = simulator.videos().find((job) => job['prompt'] === prompt)?.['id'];
  if (typeof id !== 'string') throw new Error(`the job "${prompt}" does not exist`);
  const { status, text } = await post(`${simulator.controlUrl}/videos/${id}`, { video });
  if (status !== 200) throw new Error(`${status} ${text}`);
}

/**
 * Compares finished tasks with the simulator's record: each was accepted once, has one row in the ledger, is charged
 * for exactly the delivered video, and each stored file belongs to a completed task.
 */
export async function auditTasks({ simulator, dataDirectory, ask }: AuditOptions, made: readonly MadeVideo[]): Promise<TaskAudit> {
  const problems: string[] = [];
  const rows = readRows(dataDirectory);
  const counts = { completed: 0, failed: 0, billedFailures: 0, rows: rows.length, files: 0, jobs: 0 };
  for (const { id, prompt } of made) {
    const say = (problem: string): void => void problems.push(`${prompt}: ${problem}`);
    const { json: task } = await ask(`/videos/${id}`);
    const { json: receipt } = await ask(`/videos/${id}/receipt`);
    if (task.status !== 'completed' && task.status !== 'failed') say(`is ${task.status}`);
    const jobs = simulator.videos().filter((job) => job['prompt'] === prompt);
    counts.jobs += jobs.length;
    if (jobs.length !== 1) say(`${jobs.length} jobs were accepted`);
    const own = rows.filter(({ callId }) => callId === receipt.request_id);
    const [row] = own;
    if (own.length !== 1 || row === undefined) {
      say(`${own.length} rows in the ledger`);
      continue;
    }
    const isBilled = task.status === 'completed' || task.error?.code === 'content_moderated';
    counts[task.status === 'completed' ? 'completed' : isBilled ? 'billedFailures' : 'failed'] += 1;
    const { frames } = (jobs[0]?.['shape'] ?? { frames: 0 }) as { readonly frames: number };
    const expected = isBilled ? priceOf(row, Math.round((frames / framesPerSecond) * 1000)) : 0n;
    // In a stored row, amounts are strings.
    const charged = BigInt(row.charge.amountNanoUsd);
    if (charged !== expected) say(`charged ${charged}, but the delivered video costs ${expected}`);
    if (isBilled && expected === 0n && row.vendor === 'xai') say('a video with a price was free');
  }
  const files = mediaFiles(dataDirectory);
  counts.files = files.whole.length;
  if (files.whole.length !== counts.completed) problems.push(`${files.whole.length} files for ${counts.completed} completed videos`);
  if (files.unfinished.length > 0) problems.push(`${files.unfinished.length} files were never finished`);
  return { problems, counts };
}
