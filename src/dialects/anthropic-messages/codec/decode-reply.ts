import type { InferenceReply, ReplyPart } from '../../../inference/inference-reply.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { decodeUsage } from '../decode-usage.ts';
import { decodeCitations } from './citations.ts';
import { decodeReasoning } from './decode-messages.ts';
import { createServerToolPairing, isServerToolResult, isServerToolUse, type ServerToolPairing } from './server-tools.ts';
import { decodeEnding } from './stop-reasons.ts';

/** Reads a whole message. Blocks of unknown types are left out. */
export function decodeReply(reply: unknown, reading: ReplyReading): InferenceReply {
  const message = membersOf(reply);
  const pairing = createServerToolPairing();
  const decoded = objectsOf(message.content).flatMap((block) => decodeBlock(block, reading, pairing));
  const parts = [...decoded, ...pairing.unfinished()];
  const usageReport = decodeUsage(message.usage);
  return {
    ...(typeof message.id === 'string' ? { replyId: message.id } : {}),
    ...(typeof message.model === 'string' ? { servedModel: message.model } : {}),
    parts,
    ...decodeEnding(
      message,
      parts.some((part) => part.kind === 'tool-call'),
    ),
    ...(usageReport === undefined ? {} : { usageReport }),
  };
}

function decodeBlock(block: JsonObject, reading: ReplyReading, pairing: ServerToolPairing): readonly ReplyPart[] {
  switch (textOf(block.type) ?? '') {
    case 'text': {
      const citations = decodeCitations(block.citations);
      return [{ kind: 'text', text: textOf(block.text) ?? '', ...(citations.length === 0 ? {} : { citations }) }];
    }
    case 'thinking':
    case 'redacted_thinking':
      return [decodeReasoning(block, reading.proofOrigin)];
    case 'tool_use':
      return [{ kind: 'tool-call', ...identifyCall(block, reading), arguments: writeArguments(block.input) }];
    default: {
      const type = textOf(block.type) ?? '';
      if (isServerToolUse(type)) pairing.begin(block);
      return isServerToolResult(type) ? [pairing.finish(block)] : [];
    }
  }
}

/** Reads id and name of a `tool_use` block. Imitating servers omit the id. */
export function identifyCall({ id, name }: JsonObject, { newId }: ReplyReading): { readonly id: string; readonly name: string } {
  return { id: filledText(id) ?? newId('toolu'), name: textOf(name) ?? '' };
}

/** Writes arguments as JSON text. They are an object; imitating servers send the text itself. */
export function writeArguments(input: unknown): string {
  if (typeof input === 'string') return input;
  return isJsonObject(input) ? JSON.stringify(input) : '{}';
}
