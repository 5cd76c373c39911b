/** `good` and `bad` decide the exit code; `warning` and `none` (not offered, not run, or only information) do not. */
export type Verdict = 'good' | 'bad' | 'warning' | 'none';

/** The result of one check. Its texts contain no secret and no control character. */
export type Finding = {
  readonly verdict: Verdict;
  /** The checked object, in a few words. */
  readonly subject: string;
  /** The finding, in a sentence. */
  readonly says: string;
  /** What the operator can do about it. */
  readonly advice?: string;
  readonly tookMs?: number;
};

export type Section = { readonly title: string; readonly findings: readonly Finding[] };

/** The names of the conformance checks, in the order in which they run and are shown. */
export const checkNames = [
  'reply',
  'stream',
  'usage',
  'stream-usage',
  'stop',
  'system',
  'tool',
  'tool-stream',
  'tool-result',
  'json',
  'image',
  'utf8',
  'count',
  'error',
] as const;

export type CheckName = (typeof checkNames)[number];

/** The result of one check of a matrix row. */
export type CheckResult = {
  readonly check: CheckName;
  readonly verdict: Verdict;
  readonly says?: string;
  readonly advice?: string;
  readonly tookMs?: number;
};

/** One row of the matrix: a model of an upstream, spoken to in one interface. */
export type MatrixRow = {
  readonly upstream: string;
  readonly model: string;
  /** The id and the title of the interface. */
  readonly dialect: string;
  readonly title: string;
  readonly results: readonly CheckResult[];
};

/** The findings about one upstream and the connection to it. */
export type UpstreamReport = Section & {
  readonly upstream: string;
  readonly matrix: readonly MatrixRow[];
};

/** The verdicts of all findings and checks of some upstreams. */
export const verdictsOf = (upstreams: readonly UpstreamReport[]): readonly Verdict[] =>
  upstreams.flatMap(({ findings, matrix }) => [...findings, ...matrix.flatMap(({ results }) => results)]).map(({ verdict }) => verdict);

export type DoctorReport = {
  /** True if nothing is bad and nothing was aborted. */
  readonly healthy: boolean;
  readonly aborted: boolean;
  /** Whether the simulated vendors were checked because nothing is configured. */
  readonly simulated: boolean;
  readonly sections: readonly Section[];
  readonly upstreams: readonly UpstreamReport[];
};

const charactersMax = 240;

/** Makes untrusted text safe for a terminal: one line, without control characters, and not too long. */
export function tidyWords(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is to be found
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ').trim();
  return line.length > charactersMax ? `${line.slice(0, charactersMax - 1)}…` : line;
}
