import type { InferenceRequest } from '../inference/inference-request.ts';

/** Whether a text of the conversation contains "JSON". OpenAI refuses JSON mode without a schema if none does. */
export function mentionsJson({ instructions, turns }: InferenceRequest): boolean {
  const parts = [...instructions, ...turns.flatMap((turn) => turn.parts)];
  return parts.some((part) => part.kind === 'text' && /json/i.test(part.text));
}
