import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { Frame } from '../../../../platform/frames.ts';
import { isNestedDeeper, isValueDeeper } from '../../../../platform/json/json-depth.ts';

/** What one event takes in memory besides its text, roughly. */
const eventWeight = 64;

/**
 * Characters of a frame that are there in every frame: names, ids, counts. A stream of small pieces is mostly that, and none of it is kept.
 */
const envelopeCharacters = 512;

function weightOf(event: InferenceEvent): number {
  if (event.type === 'delta') return eventWeight + event.text.length;
  return event.type === 'proof' ? eventWeight + event.proof.blob.length : eventWeight;
}

/** No reply nests like this: reading it into another dialect, which walks through it, would exhaust the stack. */
const depthMax = 512;

const tooDeep = (): GatewayError =>
  new GatewayError('upstream_invalid_reply', `Upstream connection error: the reply is nested deeper than ${depthMax} levels.`);

/** Throws GatewayError `upstream_invalid_reply` for a whole reply that is nested too deeply. */
export function refuseDeepReply(reply: unknown): void {
  if (isValueDeeper(reply, depthMax)) throw tooDeep();
}

/** The same for the text of one event. */
export function refuseDeepEvent({ data }: Frame): void {
  if (data.length > depthMax && isNestedDeeper(data, depthMax)) throw tooDeep();
}

/**
 * Limits what a translated stream can pile up: calls that wait for others to end, text that the client's dialect repeats at the end,
 * thoughts that are kept with their proof. All of it came in frames, so what these hold is added up, and a reply beyond the limit ends in
 * an error as a whole reply of that size does.
 * @param bytesMax the limit of a whole reply
 * @returns called with each frame and the events that were read out of it. Throws GatewayError `upstream_reply_too_large`.
 */
export function createReplyBound(bytesMax: number): (frame: Frame, events: readonly InferenceEvent[]) => void {
  let held = 0;
  return ({ data }, events) => {
    const said = events.reduce((sum, event) => sum + weightOf(event), 0);
    // What says nothing yet may be kept by its reader all the same.
    held += Math.max(said, eventWeight, data.length - envelopeCharacters);
    if (held <= bytesMax) return;
    throw new GatewayError(
      'upstream_reply_too_large',
      `Upstream connection error: the reply is larger than ${bytesMax} bytes; the stream was terminated.`,
    );
  };
}
