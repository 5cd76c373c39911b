import type { StateTone } from '../../ui/state.tsx';

/** A verdict of the doctor. */
type Verdict = 'good' | 'bad' | 'warning' | 'none';
type Finding = {
  readonly verdict: Verdict;
  readonly subject: string;
  readonly says: string;
  readonly advice?: string;
  readonly tookMs?: number;
};
type CheckCell = {
  readonly check: string;
  readonly verdict: Verdict;
  readonly says?: string;
  readonly advice?: string;
  readonly tookMs?: number;
};
export type MatrixRow = {
  readonly upstream: string;
  readonly model: string;
  readonly dialect: string;
  readonly title: string;
  readonly results: readonly CheckCell[];
};
/** What a check has found until now. */
export type CheckReport = {
  readonly step: string | undefined;
  /** Undefined until the end. */
  readonly isHealthy: boolean | undefined;
  readonly findings: readonly (Finding & { readonly title: string })[];
  readonly matrix: readonly MatrixRow[];
};

export const verdicts = {
  good: { sign: '✓', word: 'good', tone: 'good' },
  bad: { sign: '✗', word: 'bad', tone: 'bad' },
  warning: { sign: '!', word: 'look at it', tone: 'warning' },
  none: { sign: '–', word: 'not offered, or not run', tone: 'muted' },
} as const satisfies Readonly<Record<Verdict, { readonly sign: string; readonly word: string; readonly tone: StateTone }>>;

/** The checks of the matrix, in the order in which they run. A tilde means: streamed. */
export const checkTitles: Readonly<Record<string, string>> = {
  reply: 'reply',
  stream: 'reply~',
  usage: 'usage',
  'stream-usage': 'usage~',
  stop: 'stop',
  system: 'system',
  tool: 'tool',
  'tool-stream': 'tool~',
  'tool-result': 'result',
  json: 'JSON',
  image: 'image',
  utf8: 'UTF-8',
  count: 'count',
  error: 'error',
};

/** What the gateway writes into the operations `upstreams.check` and `config.layers.check`; both parts of it are from `src/main/doctor`. */
type Progress = { readonly step?: string; readonly matrix?: readonly MatrixRow[] };
type Result = {
  readonly is_healthy: boolean;
  readonly credentials: readonly { readonly title: string; readonly findings: readonly Finding[]; readonly matrix: readonly MatrixRow[] }[];
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A check that runs or has ended, from its operation. */
export function readCheck({
  progress,
  result,
}: {
  readonly progress: { readonly partial: unknown } | null;
  readonly result: unknown;
}): CheckReport {
  if (isObject(result) && 'credentials' in result) {
    const { is_healthy: isHealthy, credentials } = result as Result;
    return {
      step: undefined,
      isHealthy,
      findings: credentials.flatMap(({ title, findings }) => findings.map((finding) => ({ ...finding, title }))),
      matrix: credentials.flatMap(({ matrix }) => matrix),
    };
  }
  const { step, matrix = [] } = (isObject(progress?.partial) ? progress.partial : {}) as Progress;
  return { step, isHealthy: undefined, findings: [], matrix };
}

export type Remark = {
  readonly upstream: string;
  readonly verdict: Verdict;
  readonly checks: readonly string[];
  readonly rows: readonly string[];
  readonly says: string;
  readonly advice: string | undefined;
};

const urgency: readonly Verdict[] = ['bad', 'warning', 'none', 'good'];

/** What the cells of a matrix say that are not good: each sentence once, with the checks and rows that it is about. */
export function remarksOf(matrix: readonly MatrixRow[]): readonly Remark[] {
  const groups = new Map<string, Omit<Remark, 'checks' | 'rows'> & { checks: Set<string>; rows: Set<string> }>();
  for (const { upstream, title, results } of matrix)
    for (const { check, verdict, says, advice } of results) {
      if (verdict === 'good' || says === undefined) continue;
      const key = JSON.stringify([upstream, verdict, says, advice]);
      const group = groups.get(key) ?? { upstream, verdict, says, advice, checks: new Set<string>(), rows: new Set<string>() };
      groups.set(key, group);
      group.checks.add(checkTitles[check] ?? check);
      group.rows.add(title);
    }
  return [...groups.values()]
    .map(({ checks, rows, ...rest }) => ({ ...rest, checks: [...checks], rows: [...rows] }))
    .toSorted((a, b) => urgency.indexOf(a.verdict) - urgency.indexOf(b.verdict));
}

/** The quirks that an advice of the doctor names: `set quirks: { streamOptions: false } for upstream …`. */
export function quirkOf(advice: string | undefined): string | undefined {
  return /quirks: \{ ([^{}]+) \}/.exec(advice ?? '')?.[1];
}
