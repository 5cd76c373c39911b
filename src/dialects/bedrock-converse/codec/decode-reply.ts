import type { InferenceReply, ReplyPart } from '../../../inference/inference-reply.ts';
import type { Proof } from '../../../inference/proof.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { decodeUsage } from '../decode-usage.ts';
import { decodeEnding } from './stop-reasons.ts';

/** Reads a whole reply. Blocks of unknown types are left out. */
export function decodeReply(reply: unknown, reading: ReplyReading): InferenceReply {
  const { output, stopReason, usage, serviceTier } = membersOf(reply);
  const parts = objectsOf(membersOf(membersOf(output).message).content).flatMap((block) => decodeBlock(block, reading));
  const usageReport = decodeUsage(usage, serviceTier);
  return {
    parts,
    ...decodeEnding(
      stopReason,
      parts.some((part) => part.kind === 'tool-call'),
    ),
    ...(usageReport === undefined ? {} : { usageReport }),
  };
}

function decodeBlock({ text, toolUse, reasoningContent, citationsContent }: JsonObject, reading: ReplyReading): readonly ReplyPart[] {
  if (typeof text === 'string') return [{ kind: 'text', text }];
  if (isJsonObject(toolUse)) return [{ kind: 'tool-call', ...identifyCall(toolUse, reading), arguments: writeArguments(toolUse.input) }];
  if (isJsonObject(reasoningContent)) return [decodeReasoning(reasoningContent, reading)];
  if (!isJsonObject(citationsContent)) return [];
  return objectsOf(citationsContent.content).flatMap((piece) =>
    filledText(piece.text) === undefined ? [] : [{ kind: 'text', text: textOf(piece.text) ?? '' } as const],
  );
}

/** Reads id and name of a `toolUse`. */
export function identifyCall({ toolUseId, name }: JsonObject, { newId }: ReplyReading): { readonly id: string; readonly name: string } {
  return { id: filledText(toolUseId) ?? newId('tooluse'), name: textOf(name) ?? '' };
}

function writeArguments(input: unknown): string {
  if (typeof input === 'string') return input;
  return isJsonObject(input) ? JSON.stringify(input) : '{}';
}

function decodeReasoning({ reasoningText, redactedContent }: JsonObject, { proofOrigin }: ReplyReading): ReplyPart {
  const hidden = filledText(redactedContent);
  if (hidden !== undefined) return { kind: 'reasoning', text: [], proof: { origin: proofOrigin, blob: hidden, hidden: true } };
  const { text, signature } = membersOf(reasoningText);
  const proof = signedBy(signature, proofOrigin);
  const thoughts = filledText(text);
  return { kind: 'reasoning', text: thoughts === undefined ? [] : [thoughts], ...(proof === undefined ? {} : { proof }) };
}

/** The proof of a signature. Undefined without one. */
export function signedBy(signature: unknown, origin: string): Proof | undefined {
  const blob = filledText(signature);
  return blob === undefined ? undefined : { origin, blob };
}
