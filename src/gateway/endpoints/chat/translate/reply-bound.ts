import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { Frame } from '../../../../platform/frames.ts';
import { isNestedDeeper, isValueDeeper } from '../../../../platform/json/json-depth.ts';

/** The approximate size of one event in memory, without its text. */
const eventWeight = 64;

/** Characters of a frame for names, ids and counts. Small frames consist mostly of these, and none of them is kept. */
const envelopeCharacters = 512;

function weightOf(event: InferenceEvent): number {
  if (event.type === 'delta') return eventWeight + event.text.length;
  return event.type === 'proof' ? eventWeight + event.proof.blob.length : eventWeight;
}

/** No real reply nests like this. Translating it is recursive and would exhaust the stack. */
const depthMax = 512;

const tooDeep = (): GatewayError =>
  new GatewayError('upstream_invalid_reply', `Upstream connection error: the reply is nested deeper than ${depthMax} levels.`);

/** Refuses a reply that is nested too deeply. @throws GatewayError `upstream_invalid_reply` */
export function refuseDeepReply(reply: unknown): void {
  if (isValueDeeper(reply, depthMax)) throw tooDeep();
}

/** The same for the text of one event. */
export function refuseDeepEvent({ data }: Frame): void {
  if (data.length > depthMax && isNestedDeeper(data, depthMax)) throw tooDeep();
}

/**
 * Limits what a translated stream can accumulate: calls that wait for others to end, text that the client's dialect
 * repeats at the end, reasoning that is kept with its proof. All of it came in frames, so their content is added up. A
 * reply beyond the limit ends in the same error as a whole reply of that size.
 * @param bytesMax the limit of a whole reply
 * @returns called with each frame and its events; throws GatewayError `upstream_reply_too_large`
 */
export function createReplyBound(bytesMax: number): (frame: Frame, events: readonly InferenceEvent[]) => void {
  let held = 0;
  return ({ data }, events) => {
    let weight = 0;
    for (const event of events) weight += weightOf(event);
    // The decoder may keep a frame that gave no event.
    held += Math.max(weight, eventWeight, data.length - envelopeCharacters);
    if (held <= bytesMax) return;
    throw new GatewayError(
      'upstream_reply_too_large',
      `Upstream connection error: the reply is larger than ${bytesMax} bytes; the stream was terminated.`,
    );
  };
}
