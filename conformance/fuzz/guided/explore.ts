import { threadMs } from '../../../src/platform/thread-ms.ts';
import { seededRandom } from '../../../src/platform/seeded-random.ts';
import { type Block, type Coverage, openCoverage } from './coverage.ts';
import { mutateText } from './mutate-text.ts';
import type { GuidedTarget } from './targets.ts';

/** An input that a parser did not survive as it should: it threw an error of its own, or took too long. */
type Finding = { readonly problem: string; readonly input: string };

export type Exploration = {
  readonly inputs: number;
  readonly refused: number;
  /** Inputs that reached code that no input before had reached. */
  readonly corpus: number;
  readonly blocks: number;
  /** The most processor time of an input, as the fastest of its repetitions. */
  readonly longestMs: number;
  readonly findings: readonly Finding[];
};

/**
 * Inputs between two questions for the coverage, which take longer than most inputs: few at first, and twice as many
 * after each batch that reached nothing new.
 */
const batchInputs = 40;
const batchInputsMax = 40 * 16;
/** The processor time after which a batch ends, because its inputs run again if they reached something new. */
const batchMsMax = 1000;
/** No work on an event loop may take longer; documented in docs/reference/reliability.md. */
const loopMsMax = 50;
const findingsMax = 5;
const repetitions = 4;

const isReached = (url: string): boolean =>
  /\/(?:src|node_modules)\/(?!typebox)/.test(url) && !url.includes('/testing/') && !url.includes('/node_modules/fast-check/');

/**
 * Gives a parser mutations of files. Those that reach new code are files for further mutations.
 * @param isOver asked after each batch
 * @param onInput called before each input, for a thread that watches this one
 */
export async function explore(
  target: GuidedTarget,
  options: {
    readonly seed: number;
    readonly isOver: (inputs: number) => boolean;
    readonly onInput?: (bytes: Buffer) => void;
    /** Selects the scripts whose code is to be reached. Default: Weir's and its libraries'. */
    readonly isOurs?: (url: string) => boolean;
  },
): Promise<Exploration> {
  const random = seededRandom(options.seed);
  const coverage = openCoverage(options.isOurs ?? isReached);
  const counts = { inputs: 0, refused: 0, longestMs: 0 };
  const findings: Finding[] = [];
  const attempt = async (bytes: Buffer): Promise<{ readonly ms: number; readonly isRefused: boolean }> => {
    options.onInput?.(bytes);
    const beganMs = threadMs();
    let isRefused = false;
    try {
      await target.run(bytes);
    } catch (error) {
      isRefused = true;
      if (!target.isRefused(error)) note(findings, error instanceof Error ? (error.stack ?? error.message) : String(error), bytes);
    }
    return { ms: threadMs() - beganMs, isRefused };
  };
  const give = async (bytes: Buffer): Promise<void> => {
    counts.inputs += 1;
    const first = await attempt(bytes);
    let { ms } = first;
    if (first.isRefused) counts.refused += 1;
    // A collection of garbage, or code that runs for the first time, is not the input's fault.
    for (let again = 1; again < repetitions && ms > Math.max(counts.longestMs, loopMsMax / 2); again += 1)
      ms = Math.min(ms, (await attempt(bytes)).ms);
    counts.longestMs = Math.max(counts.longestMs, ms);
    if (target.isOnLoop && ms > loopMsMax) note(findings, `${Math.round(ms)} ms of processor time`, bytes);
  };
  try {
    const corpus = [...(await target.seeds())];
    for (const bytes of corpus) await give(bytes);
    coverage.takeNew();
    const isDone = (): boolean => options.isOver(counts.inputs) || findings.length >= findingsMax;
    for (let most = batchInputs; !isDone();) {
      const batch: Buffer[] = [];
      const beganMs = threadMs();
      do {
        const bytes = mutateText(pick(corpus, random), pick(corpus, random), random);
        batch.push(bytes);
        await give(bytes);
      } while (batch.length < most && threadMs() - beganMs < batchMsMax && !isDone());
      const found = coverage.takeNew();
      most = found.size === 0 ? Math.min(2 * most, batchInputsMax) : batchInputs;
      if (found.size > 0) corpus.push(...(await findCauses(batch, found, { attempt, coverage })));
    }
    return { ...counts, longestMs: Math.round(counts.longestMs), corpus: corpus.length, blocks: coverage.blocks(), findings };
  } finally {
    coverage.close();
  }
}

/** Those inputs of a batch that reach the new code when they run again: halves are tried until one input is left. */
async function findCauses(
  batch: readonly Buffer[],
  found: Map<string, Block>,
  tools: { readonly attempt: (bytes: Buffer) => Promise<unknown>; readonly coverage: Coverage },
): Promise<readonly Buffer[]> {
  for (const bytes of batch) await tools.attempt(bytes);
  const reached = tools.coverage.takeOf(found);
  if (reached.length === 0) return [];
  if (batch.length === 1) {
    for (const key of reached) found.delete(key);
    return batch;
  }
  const middle = batch.length >> 1;
  const first = await findCauses(batch.slice(0, middle), found, tools);
  return found.size === 0 ? first : [...first, ...(await findCauses(batch.slice(middle), found, tools))];
}

function note(findings: Finding[], problem: string, bytes: Buffer): void {
  if (findings.length < findingsMax) findings.push({ problem: problem.slice(0, 1000), input: bytes.toString('base64') });
}

function pick(corpus: readonly Buffer[], random: () => number): Buffer {
  return corpus[Math.floor(random() * corpus.length)] ?? Buffer.alloc(0);
}
