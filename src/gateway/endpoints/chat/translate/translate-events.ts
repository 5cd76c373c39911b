import { isDeepStrictEqual } from 'node:util';

import type { ErrorInReply } from '../../../../dialects/chat-dialect.ts';
import { cutAtSequences } from '../../../../inference/cut-at-sequences.ts';
import type { EventStep, InferenceEvent } from '../../../../inference/inference-event.ts';
import { limitCalls } from '../../../../inference/limit-calls.ts';
import { restoreTools } from '../../../../inference/restore-tools.ts';
import { serializeBlocks } from '../../../../inference/serialize-blocks.ts';
import type { Usage, UsageReport } from '../../../../inference/usage.ts';
import { createProofCollector } from './collect-proofs.ts';
import type { Translation } from './translation.ts';

/** Events of an upstream's reply on their way to the client's encoder. */
export type EventLine = {
  readonly push: (events: readonly InferenceEvent[]) => readonly InferenceEvent[];
  /** The ends of the blocks that are open. */
  readonly closeOpen: () => readonly InferenceEvent[];
  /** True when `finished` has come out. */
  readonly isFinished: () => boolean;
};

/** How a generation that its vendor gave up is told where a reply cannot say so. */
export function failureOf(stopDetail: string | undefined): ErrorInReply {
  return { message: `generation failed${stopDetail === undefined ? '' : ` (${stopDetail})`}`, status: 502 };
}

/** Servers have marks of their own that end a reply, and some tell them like a sequence: a client did not ask for those. */
function checkStop(asked: readonly string[]): EventStep {
  return (event) => {
    if (event.type !== 'finished' || event.stopReason !== 'stop-sequence' || event.stopSequence === undefined) return [event];
    if (asked.includes(event.stopSequence)) return [event];
    const { stopSequence: _mark, ...ended } = event;
    return [{ ...ended, stopReason: 'end' }];
  };
}

function chain(steps: readonly EventStep[]): (events: readonly InferenceEvent[]) => readonly InferenceEvent[] {
  return (events) => steps.reduce<readonly InferenceEvent[]>((passing, step) => passing.flatMap((event) => step(event)), events);
}

const passOn: EventStep = (event) => [event];

/**
 * A reply may end without its upstream's report, with one that cannot be true, or before it came. Whatever is charged then, its client is told the same.
 */
function tellCharged(charged: () => UsageReport): EventStep {
  let told: Usage | undefined;
  return (event) => {
    if (event.type === 'usage') told = event.usageReport.usage;
    if (event.type !== 'finished') return [event];
    const usageReport = charged();
    return told !== undefined && isDeepStrictEqual(told, usageReport.usage) ? [event] : [{ type: 'usage', usageReport }, event];
  };
}

/**
 * What happens between the upstream's words and the client's: blocks are put in line, tools get their names back, stop sequences that the
 * upstream does not know cut the text, and proofs that the client might lose are remembered before it learns of the end. The last usage that the client is told is what is charged.
 * @param charged what is charged for the reply as far as it is known; asked once, at its end. Absent for what costs nothing
 */
export function createEventLine(translation: Translation, charged?: () => UsageReport): EventLine {
  const { encoded, callLimits, stopSequences, correctUsage, rememberProofs, replyNotes } = translation;
  const { toolNames, answerTool, cutAt } = encoded;
  const steps: EventStep[] = [serializeBlocks()];
  if (stopSequences !== undefined) steps.push(checkStop(stopSequences));
  if (toolNames !== undefined || answerTool !== undefined) {
    steps.push(
      restoreTools({ ...(toolNames === undefined ? {} : { toolNames }), ...(answerTool === undefined ? {} : { answerTool }) }),
      // A step that takes blocks out leaves gaps in their indices.
      serializeBlocks(),
    );
  }
  if (callLimits !== undefined) {
    const onSurplus = (name: string): void =>
      replyNotes.adapted('parallelToolCalls', `a surplus call of ${name} was left out of the reply; one at a time was asked for`);
    steps.push(limitCalls(callLimits, onSurplus), serializeBlocks());
  }
  if (cutAt !== undefined && cutAt.length > 0) steps.push(cutAtSequences(cutAt));
  const run = chain(steps);
  const tell = charged === undefined ? passOn : tellCharged(charged);
  const proofs = createProofCollector();
  let finished = false;
  const open = new Set<number>();
  return {
    push: (events) => {
      const passed = (finished ? [] : run(events)).flatMap((event) =>
        tell(event.type === 'usage' ? { ...event, usageReport: correctUsage(event.usageReport) } : event),
      );
      for (const event of passed) {
        if (event.type === 'block-started') open.add(event.index);
        else if (event.type === 'block-ended') open.delete(event.index);
        proofs.push(event);
        if (event.type !== 'finished') continue;
        finished = true;
        const collected = proofs.collected();
        if (collected !== undefined) rememberProofs(collected);
      }
      return passed;
    },
    closeOpen: () => {
      finished = true;
      return [...open].map((index) => ({ type: 'block-ended', index }));
    },
    isFinished: () => finished,
  };
}
