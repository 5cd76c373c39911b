import { type AllDeadOptions, type AllDeadFigures, measureAllDead } from './all-dead.ts';
import type { Lane } from './chaos-bench.ts';
import { type CutFigures, type CutOptions, measureCuts } from './cut-anywhere.ts';
import { type DeadUpstreamFigures, type DeadUpstreamOptions, measureDeadUpstream } from './dead-upstream.ts';
import { duration, type Figure, size } from './figures.ts';

/** Every way to die, each in another dialect, and one whose fallback is reached by translation. */
export const lanes: readonly Lane[] = [
  { name: 'refuse', dialect: 'anthropic-messages', death: 'refuse' },
  { name: 'reset', dialect: 'openai-chat', death: 'reset' },
  { name: 'black-hole', dialect: 'openai-responses', death: 'black-hole' },
  { name: 'status', dialect: 'gemini-generate-content', death: '5xx' },
  { name: 'half', dialect: 'anthropic-messages', death: 'half-5xx' },
  { name: 'stall', dialect: 'openai-responses', death: 'stall' },
  { name: 'shared', dialect: 'gemini-generate-content', death: 'black-hole', shared: true },
  { name: 'translated', dialect: 'openai-chat', death: 'refuse', translated: true },
];

const deathWords: Readonly<Record<Lane['death'], string>> = {
  refuse: 'refuses connections',
  reset: 'resets connections',
  'black-hole': 'has vanished (nothing is answered)',
  '5xx': 'answers 503',
  'half-5xx': 'answers every other call with 529',
  stall: 'accepts and stays silent',
};

const describeLane = ({ dialect, death, translated, shared }: Lane): string =>
  `${deathWords[death]}; ${dialect}${translated === true ? ', the other target by translation' : ''}${shared === true ? ', the two share the calls' : ''}`;

/** The lanes that are useful when every upstream is dead. */
export const deadLanes: readonly Lane[] = lanes.filter(
  ({ death, translated, shared }) => translated !== true && shared !== true && death !== 'half-5xx',
);

/** Calls may wait at an upstream that is not yet known to be silent. */
const failuresAllowed: Readonly<Record<Lane['death'], number>> = {
  refuse: 0,
  reset: 0,
  'black-hole': 5,
  '5xx': 0,
  'half-5xx': 0,
  stall: 5,
};
const backWithinMs = 40_000;

type OneDead = DeadUpstreamOptions & {
  /** The permitted increase of the time to the first byte, for 99 of 100 calls. */
  readonly addedMsMax: (lane: Lane) => number;
};

/** R3: one of two upstreams is dead. */
export async function oneDeadFigures(options: OneDead): Promise<readonly Figure[]> {
  const measured = await measureDeadUpstream(options);
  return measured.map((figures) => oneDeadFigure(figures, options));
}

function oneDeadFigure(figures: DeadUpstreamFigures, { deadSeconds, addedMsMax }: OneDead): Figure {
  const { lane, calls, failures, brokenStreams, firstByteP99DeadMs, firstByteP99WellMs, backAfterMs, dishonest, examples } = figures;
  const addedMs = Math.max(0, firstByteP99DeadMs - firstByteP99WellMs);
  const allowed = failuresAllowed[lane.death];
  return {
    row: 'R3',
    what: `one of two upstreams ${describeLane(lane)}, ${deadSeconds} s`,
    measured: `${failures} of ${calls} calls failed (and ${brokenStreams} streams in progress); p99 first byte +${duration(addedMs)}; back after ${duration(backAfterMs)}; ${dishonest} broken streams without an error event`,
    gate: `≤ ${allowed} failed; +${duration(addedMsMax(lane))}; ${duration(backWithinMs)}; 0`,
    isMet: failures <= allowed && addedMs <= addedMsMax(lane) && (backAfterMs ?? Infinity) <= backWithinMs && dishonest === 0,
    examples,
  };
}

type AllDeadGates = AllDeadOptions & {
  /** Once the outage is known, a call is still made, and waits until it is refused. */
  readonly knownAnswerMsMax: (lane: Lane) => number;
  readonly firstAnswerMsMax: number;
  readonly memoryGrowthBytesMax: number;
};

const wireAttemptsMax = 1.2;

/** R4: all upstreams are dead. */
export async function allDeadFigures(options: AllDeadGates): Promise<readonly Figure[]> {
  const { lanes: measured, memoryAtFirstBytes, memoryGrowthBytes } = await measureAllDead(options);
  const memory: Figure = {
    row: 'R4',
    what: `all upstreams are dead, ${options.deadSeconds} s: memory`,
    measured: `${size(memoryAtFirstBytes)} more at first, then ${size(memoryGrowthBytes)} more`,
    gate: `then ≤ ${size(options.memoryGrowthBytesMax)}`,
    isMet: memoryGrowthBytes <= options.memoryGrowthBytesMax,
  };
  return [...measured.map((figures) => allDeadFigure(figures, options)), memory];
}

function allDeadFigure(figures: AllDeadFigures, gates: AllDeadGates): Figure {
  const { lane, calls, wireAttemptsPerCall, statuses, answerP50Ms, answerP90Ms, answerP99Ms, answerP99AtFirstMs, withoutRetryAfter } =
    figures;
  const { firstSuccessAfterMs, allSucceedAfterMs } = figures;
  const others = Object.entries(statuses).filter(([status]) => status !== '503' && status !== '504');
  const attempts = wireAttemptsPerCall === undefined ? 'not countable' : wireAttemptsPerCall.toFixed(2);
  return {
    row: 'R4',
    what: `every upstream ${describeLane(lane)}, ${gates.deadSeconds} s`,
    measured: `${calls} calls; wire attempts per call: ${attempts}; answers ${JSON.stringify(statuses)}, p99 ${duration(answerP99AtFirstMs)} at first, then p50 ${duration(answerP50Ms)}, p90 ${duration(answerP90Ms)}, p99 ${duration(answerP99Ms)} (every call is made, once); ${withoutRetryAfter} of our own without retry-after; first success ${duration(firstSuccessAfterMs)} after the recovery, all after ${duration(allSucceedAfterMs)}`,
    gate: `≤ ${wireAttemptsMax}; only 503 and 504; ≤ ${duration(gates.firstAnswerMsMax)}, then p90 ≤ ${duration(gates.knownAnswerMsMax(lane))}; 0; ≤ ${duration(backWithinMs)}`,
    isMet:
      (wireAttemptsPerCall ?? 0) <= wireAttemptsMax &&
      others.length === 0 &&
      answerP99AtFirstMs <= gates.firstAnswerMsMax &&
      answerP90Ms <= gates.knownAnswerMsMax(lane) &&
      withoutRetryAfter === 0 &&
      (allSucceedAfterMs ?? Infinity) <= backWithinMs,
  };
}

/** R5: replies cut at any byte. */
export async function cutFigures(options: CutOptions): Promise<readonly Figure[]> {
  const measured = await measureCuts(options);
  return [false, true].map((stream) => cutFigure(measured.filter((figures) => figures.stream === stream)));
}

function cutFigure(all: readonly CutFigures[]): Figure {
  const sum = (count: 'cuts' | 'invisible' | 'told' | 'whole' | 'refused'): number =>
    all.reduce((total, figures) => total + figures[count], 0);
  const wrong = all.flatMap((figures) => figures.wrong);
  const refused = all.flatMap(({ mode, how, refusals }) => refusals.map((refusal) => `${mode}, ${how}: ${refusal}`));
  return {
    row: 'R5',
    what: `the upstream's connection ends or is reset at any byte of a ${all[0]?.stream === true ? 'stream' : 'whole reply'}, in all dialects`,
    measured: `${sum('cuts')} cuts: ${sum('invisible')} replaced by the other target, ${sum('told')} with an error event, ${sum('whole')} complete already, ${sum('refused')} with an error status; ${wrong.length} dishonest`,
    gate: '0 dishonest, 0 with an error status',
    isMet: wrong.length === 0 && refused.length === 0,
    examples: [...wrong, ...refused],
  };
}
