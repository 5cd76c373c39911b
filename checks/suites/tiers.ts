import { hash } from 'node:crypto';

/** Suites that one command runs. */
type Tier = {
  readonly patterns: readonly string[];
  /** Those that start first, because they take longest: none of them then runs alone at the end. */
  readonly first: readonly string[];
  /** Processes. Suites of integration wait for half of their time, so that four of them keep a processor busy. */
  readonly atOnce: number;
  /** The time limit of a test; a suite has twice as much. */
  readonly limitMs: number;
  /** Whether CI runs a part of it with each commit (`choosePart`). */
  readonly inParts?: true;
};

/** The tiers of `npm test` and `npm run test:deep` (CONTRIBUTING.md says what belongs to each). */
export const tiers: Readonly<Record<string, Tier>> = {
  unit: {
    // The other suites directly in `checks` are a part of `npm run check` only. The reliability card needs this one.
    patterns: ['{src,simulator/src,console/src}/**/*.test.ts', 'checks/*/**/*.test.ts', 'checks/house.test.ts'],
    first: ['src/{tasks,tools}/**/*.test.ts'],
    atOnce: 5,
    limitMs: 60_000,
  },
  integration: {
    patterns: ['conformance/**/!(*.timing|*.deep).test.ts'],
    first: [
      'conformance/{store/{postgres,sqlite},sandbox/*,books/{d*,holds,kill-9,shutdown},faults/{t*,b*,m*},admin/hostile}.test.ts',
      'conformance/{background/callbacks,clouds/{bedrock,faults},console/pages,files/hostile,sdk/*-tools,tools/web-tools}.test.ts',
    ],
    atOnce: 7,
    limitMs: 240_000,
  },
  timing: { patterns: ['conformance/**/!(*.deep).timing.test.ts'], first: [], atOnce: 1, limitMs: 180_000 },
  deep: {
    patterns: ['conformance/**/*.deep.test.ts'],
    first: [
      'conformance/{audit/{simulation,crash},books/{backup,drain,rolling-restart},postgres/rolling-upgrade}.deep.test.ts',
      'conformance/{guides/guides,release/npm-package,sandbox/e*,sdk/ai-*,store/postgres,videos/{kill*,object*}}.deep.test.ts',
      'conformance/{admin,console}/*.deep.test.ts',
    ],
    atOnce: 7,
    limitMs: 600_000,
    inParts: true,
  },
  'deep-timing': { patterns: ['conformance/**/*.deep.timing.test.ts'], first: [], atOnce: 1, limitMs: 180_000 },
};

/**
 * The suites of a part. With every commit, CI runs the suites of the reliability card, which it compares, and one part
 * of the others: the next part with the next commit.
 * @param part the part and the number of parts, `1/2`; undefined for all suites
 * @param isAlways whether a suite is in every part
 */
export function choosePart(files: readonly string[], part: string | undefined, isAlways: (file: string) => boolean): readonly string[] {
  if (part === undefined) return files;
  const [, own = '', parts = ''] = /^([1-9])\/([1-9])$/.exec(part) ?? [];
  if (Number(own) > Number(parts) || parts === '') {
    throw new Error(`WEIR_SUITE_PART must be a part and the number of parts, like 1/2, not ${part}.`);
  }
  const partOf = (file: string): number => (Number.parseInt(hash('sha256', file).slice(0, 8), 16) % Number(parts)) + 1;
  return files.filter((file) => isAlways(file) || partOf(file) === Number(own));
}
