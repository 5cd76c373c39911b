import { isDeepStrictEqual } from 'node:util';

import type { ErrorInReply } from '../../../../dialects/chat-dialect.ts';
import { cutAtSequences } from '../../../../inference/cut-at-sequences.ts';
import type { EventStep, InferenceEvent } from '../../../../inference/inference-event.ts';
import { limitCalls } from '../../../../inference/limit-calls.ts';
import { restoreTools } from '../../../../inference/restore-tools.ts';
import { serializeBlocks } from '../../../../inference/serialize-blocks.ts';
import type { Usage, UsageReport } from '../../../../inference/usage.ts';
import { createProofCollector } from './turn-proofs.ts';
import type { Translation } from './prepare-translation.ts';

/** Processes the events of an upstream's reply on their way to the client's encoder. */
export type EventLine = {
  readonly push: (events: readonly InferenceEvent[]) => readonly InferenceEvent[];
  /** Ends for the blocks that are open. */
  readonly closeOpen: () => readonly InferenceEvent[];
  /** True after `finished` was emitted. */
  readonly isFinished: () => boolean;
};

/** The error for a generation that its vendor gave up, in dialects whose replies cannot express that. */
export function failureOf(stopDetail: string | undefined): ErrorInReply {
  return { message: `generation failed${stopDetail === undefined ? '' : ` (${stopDetail})`}`, status: 502 };
}

/**
 * Checks the stop sequence that ended a reply. Some servers report their own end marks, which a client did not ask for.
 * Others report no sequence: it is known if the client asked for one only.
 */
function checkStop(requested: readonly string[]): EventStep {
  const [only, ...others] = requested;
  return (event) => {
    if (event.type !== 'finished' || event.stopReason !== 'stop-sequence') return [event];
    if (event.stopSequence === undefined)
      return [only !== undefined && others.length === 0 ? { ...event, stopSequence: only } : { ...event, stopReason: 'end' }];
    if (requested.includes(event.stopSequence)) return [event];
    const { stopSequence: _mark, ...ended } = event;
    return [{ ...ended, stopReason: 'end' }];
  };
}

/** The events after a step. Most pieces of a stream are one event, which needs no copy. */
function passThrough(step: EventStep, events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  const [only] = events;
  return only !== undefined && events.length === 1 ? step(only) : events.flatMap((event) => step(event));
}

function chain(steps: readonly EventStep[]): (events: readonly InferenceEvent[]) => readonly InferenceEvent[] {
  return (events) => {
    let passing = events;
    for (const step of steps) passing = passThrough(step, passing);
    return passing;
  };
}

const passOn: EventStep = (event) => [event];

/**
 * A reply may end without a usage report, or with an implausible one. The client then receives the usage that is
 * charged.
 */
function reportCharged(charged: () => UsageReport): EventStep {
  let reported: Usage | undefined;
  return (event) => {
    if (event.type === 'usage') reported = event.usageReport.usage;
    if (event.type !== 'finished') return [event];
    const usageReport = charged();
    return reported !== undefined && isDeepStrictEqual(reported, usageReport.usage) ? [event] : [{ type: 'usage', usageReport }, event];
  };
}

/**
 * Creates the steps between the upstream's events and the client's. They put blocks in order, restore the names of
 * tools, cut at stop sequences that the upstream does not support, and remember proofs before the client receives the
 * end. The last usage that the client receives is the one that is charged.
 * @param charged the usage that is charged so far; called once, at the end. Absent: the reply is free
 */
export function createEventLine(translation: Translation, charged?: () => UsageReport): EventLine {
  const { encoded, callLimits, stopSequences, correctUsage, rememberProofs, replyNotes } = translation;
  const { toolNames, answerTool, cutAt } = encoded;
  const steps: EventStep[] = [serializeBlocks()];
  if (stopSequences !== undefined) steps.push(checkStop(stopSequences));
  if (toolNames !== undefined || answerTool !== undefined) {
    steps.push(
      restoreTools({ ...(toolNames === undefined ? {} : { toolNames }), ...(answerTool === undefined ? {} : { answerTool }) }),
      // A step that removes blocks leaves gaps in their indices.
      serializeBlocks(),
    );
  }
  if (callLimits !== undefined) {
    const onSurplus = (name: string): void =>
      replyNotes.adapted('parallelToolCalls', `a surplus call of ${name} was left out of the reply; the request allows one at a time`);
    steps.push(limitCalls(callLimits, onSurplus), serializeBlocks());
  }
  if (cutAt !== undefined && cutAt.length > 0) steps.push(cutAtSequences(cutAt));
  const run = chain(steps);
  const report = charged === undefined ? passOn : reportCharged(charged);
  const correct: EventStep = (event) => report(event.type === 'usage' ? { ...event, usageReport: correctUsage(event.usageReport) } : event);
  const proofs = createProofCollector();
  let finished = false;
  const open = new Set<number>();
  return {
    push: (events) => {
      const passed = finished ? [] : passThrough(correct, run(events));
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
