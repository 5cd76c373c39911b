import type { InferenceRequest } from '../inference/inference-request.ts';

/** Whether anything in the conversation speaks of JSON. OpenAI refuses to answer in JSON without a schema where nothing does. */
export function mentionsJson({ instructions, turns }: InferenceRequest): boolean {
  const parts = [...instructions, ...turns.flatMap((turn) => turn.parts)];
  return parts.some((part) => part.kind === 'text' && /json/i.test(part.text));
}
