import { threadMs } from '../../../src/platform/thread-ms.ts';
import { seededRandom } from '../../../src/platform/seeded-random.ts';
import { openCoverage } from './coverage.ts';
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

/** Inputs between two questions for the coverage, which take longer than most inputs. */
const batchInputs = 40;
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
  const attempt = async (bytes: Buffer): Promise<number> => {
    options.onInput?.(bytes);
    const beganMs = threadMs();
    try {
      await target.run(bytes);
    } catch (error) {
      counts.refused += 1;
      if (!target.isRefused(error)) note(findings, error instanceof Error ? (error.stack ?? error.message) : String(error), bytes);
    }
    return threadMs() - beganMs;
  };
  const give = async (bytes: Buffer): Promise<void> => {
    counts.inputs += 1;
    let ms = await attempt(bytes);
    // A collection of garbage, or code that runs for the first time, is not the input's fault.
    for (let again = 1; again < repetitions && ms > Math.max(counts.longestMs, loopMsMax / 2); again += 1)
      ms = Math.min(ms, await attempt(bytes));
    counts.longestMs = Math.max(counts.longestMs, ms);
    if (target.isOnLoop && ms > loopMsMax) note(findings, `${Math.round(ms)} ms of processor time`, bytes);
  };
  try {
    const corpus = [...(await target.seeds())];
    for (const bytes of corpus) await give(bytes);
    coverage.takeNew();
    while (!options.isOver(counts.inputs) && findings.length < findingsMax) {
      const batch = Array.from({ length: batchInputs }, () => mutateText(pick(corpus, random), pick(corpus, random), random));
      for (const bytes of batch) await give(bytes);
      const found = coverage.takeNew();
      if (found.size === 0) continue;
      // Which of them reached the new code is seen when they run again one by one.
      for (const bytes of batch) {
        await attempt(bytes);
        if (coverage.takeOf(found) > 0) corpus.push(bytes);
        if (found.size === 0) break;
      }
    }
    return { ...counts, longestMs: Math.round(counts.longestMs), corpus: corpus.length, blocks: coverage.blocks(), findings };
  } finally {
    coverage.close();
  }
}

function note(findings: Finding[], problem: string, bytes: Buffer): void {
  if (findings.length < findingsMax) findings.push({ problem: problem.slice(0, 1000), input: bytes.toString('base64') });
}

function pick(corpus: readonly Buffer[], random: () => number): Buffer {
  return corpus[Math.floor(random() * corpus.length)] ?? Buffer.alloc(0);
}
