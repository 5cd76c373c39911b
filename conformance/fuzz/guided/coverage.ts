import { type Profiler, Session } from 'node:inspector';

/** A piece of a script without a branch. */
export type Block = { readonly scriptId: string; readonly start: number; readonly end: number };

/** Which blocks of the program have run, as V8 counts them. */
export type Coverage = {
  /** The blocks that ran since the last call and had never run before, by a key. They are known from then on. */
  readonly takeNew: () => Map<string, Block>;
  /** The keys of those of some blocks that ran since the last call. */
  readonly takeOf: (blocks: ReadonlyMap<string, Block>) => readonly string[];
  /** The blocks that ran at least once. */
  readonly blocks: () => number;
  readonly close: () => void;
};

/** Counts blocks of this thread. @param isOurs selects scripts by their address */
export function openCoverage(isOurs: (url: string) => boolean): Coverage {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const known = new Set<string>();
  const take = (): readonly Profiler.ScriptCoverage[] => {
    let taken: readonly Profiler.ScriptCoverage[] = [];
    // The answer comes before `post` returns.
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      taken = result.filter(({ url }) => isOurs(url));
    });
    return taken;
  };
  return {
    takeNew: () => {
      const found = new Map<string, Block>();
      for (const { scriptId, functions } of take())
        for (const { ranges } of functions)
          for (const { startOffset: start, endOffset: end, count } of ranges) {
            const key = `${scriptId}:${start}:${end}`;
            if (count === 0 || known.has(key)) continue;
            known.add(key);
            found.set(key, { scriptId, start, end });
          }
      return found;
    },
    takeOf: (blocks) => {
      const scripts = new Map(take().map((script) => [script.scriptId, script]));
      return [...blocks].filter(([, block]) => hasRun(block, scripts.get(block.scriptId))).map(([key]) => key);
    },
    blocks: () => known.size,
    close: () => session.disconnect(),
  };
}

/** V8 lists a block only if it ran more or less often than what is around it: the innermost listed one counts. */
function hasRun({ start, end }: Block, script: Profiler.ScriptCoverage | undefined): boolean {
  let innermost: Profiler.CoverageRange | undefined;
  for (const { ranges } of script?.functions ?? [])
    for (const range of ranges) {
      if (range.startOffset > start || range.endOffset < end) continue;
      if (innermost === undefined || range.endOffset - range.startOffset <= innermost.endOffset - innermost.startOffset) innermost = range;
    }
  return (innermost?.count ?? 0) > 0;
}
