/** Counts for all pools of one name in this process. */
export type PoolFigures = {
  readonly pool: string;
  threads: number;
  waiting: number;
  running: number;
  /** Threads that were terminated during a job. */
  terminated: number;
  /** Jobs by how they ended: `done`, `aborted` or a JobFailure. */
  readonly outcomes: Map<string, number>;
};

const byPool = new Map<string, PoolFigures>();

/**
 * Returns the counts of a name. All pools of the name share them, because a process may close one and open the next.
 */
export function figuresOf(pool: string): PoolFigures {
  const known = byPool.get(pool) ?? { pool, threads: 0, waiting: 0, running: 0, terminated: 0, outcomes: new Map() };
  byPool.set(pool, known);
  return known;
}

/** The counts of every pool that this process ever opened, for its metrics. */
export function readPoolFigures(): readonly PoolFigures[] {
  return [...byPool.values()];
}
