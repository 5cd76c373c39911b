/** What the pools of one name have done in this process. */
export type PoolFigures = {
  readonly pool: string;
  threads: number;
  waiting: number;
  running: number;
  /** Threads that were ended while they had a job. */
  terminated: number;
  /** Jobs by how they ended: `done`, `aborted` or a JobFailure. */
  readonly outcomes: Map<string, number>;
};

const byPool = new Map<string, PoolFigures>();

/** Shared by all pools of a name, because a process may close one and open the next. */
export function figuresOf(pool: string): PoolFigures {
  const known = byPool.get(pool) ?? { pool, threads: 0, waiting: 0, running: 0, terminated: 0, outcomes: new Map() };
  byPool.set(pool, known);
  return known;
}

/** The figures of every pool that this process ever opened, for its metrics. */
export function readPoolFigures(): readonly PoolFigures[] {
  return [...byPool.values()];
}
