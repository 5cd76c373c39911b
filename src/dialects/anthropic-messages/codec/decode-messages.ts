import type { Part, ReasoningPart, Turn } from '../../../inference/inference-request.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { decodeCitations } from './citations.ts';
import { decodeDocument, decodeImage, decodeResultContent, decodeSearchResult } from './decode-media.ts';
import { readCallProof, readSignature } from './proof-fields.ts';
import { createServerToolPairing, isServerToolResult, isServerToolUse, type ServerToolPairing } from './server-tools.ts';

/** Reads `messages` of a validated request. */
export function decodeMessages(messages: JsonValue | undefined): readonly Turn[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: JsonValue, index) => (isJsonObject(message) ? [decodeTurn(message, `messages.${index}.content`)] : []));
}

function decodeTurn({ role, content }: JsonObject, path: string): Turn {
  return { role: role === 'assistant' || role === 'system' ? role : 'user', parts: decodeParts(content, path) };
}

function decodeParts(content: JsonValue | undefined, path: string): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, path }];
  if (!Array.isArray(content)) return [];
  const pairing = createServerToolPairing();
  const parts = content.flatMap((block: JsonValue, index) => (isJsonObject(block) ? decodeBlock(block, `${path}.${index}`, pairing) : []));
  return placeCallProofs([...parts, ...pairing.unfinished()]);
}

function decodeBlock(block: JsonObject, path: string, pairing: ServerToolPairing): readonly Part[] {
  switch (textOf(block.type) ?? '') {
    case 'text':
      return decodeText(block, path);
    case 'image':
      return [decodeImage(block, path)];
    case 'document':
      return decodeDocument(block, path);
    case 'search_result':
      return [decodeSearchResult(block, path)];
    case 'tool_use':
      return [
        {
          kind: 'tool-call',
          id: textOf(block.id) ?? '',
          name: textOf(block.name) ?? '',
          arguments: JSON.stringify(block.input ?? {}),
          path,
        },
      ];
    case 'tool_result': {
      const content = decodeResultContent(block.content, `${path}.content`);
      return [{ kind: 'tool-result', callId: textOf(block.tool_use_id) ?? '', content, isError: block.is_error === true, path }];
    }
    case 'thinking':
    case 'redacted_thinking':
      return [{ ...decodeReasoning(block), path }];
    default:
      return decodeVendorBlock(block, path, pairing);
  }
}

function decodeText(block: JsonObject, path: string): readonly Part[] {
  if (typeof block.text !== 'string' || block.text === '') return [];
  const citations = decodeCitations(block.citations);
  return [{ kind: 'text', text: block.text, ...(citations.length === 0 ? {} : { citations }), path }];
}

/** Reads `thinking` and `redacted_thinking` in a request's history or in a reply. */
export function decodeReasoning(block: JsonObject, origin?: string): ReasoningPart {
  const isHidden = block.type === 'redacted_thinking';
  const read = readSignature(isHidden ? block.data : block.signature, origin);
  const proof = read !== undefined && isHidden ? { ...read, hidden: true } : read;
  const text = typeof block.thinking === 'string' && block.thinking !== '' ? [block.thinking] : [];
  return { kind: 'reasoning', text, ...(proof === undefined ? {} : { proof }) };
}

function decodeVendorBlock(block: JsonObject, path: string, pairing: ServerToolPairing): readonly Part[] {
  const type = textOf(block.type) ?? '';
  if (isServerToolUse(type)) {
    pairing.begin(block);
    return [];
  }
  if (isServerToolResult(type)) return [{ ...pairing.finish(block), path }];
  // The vendor's summary of turns that it removed. Without it, the conversation would have a gap.
  if (type === 'compaction' && typeof block.content === 'string') return [{ kind: 'text', text: block.content, path }];
  return [{ kind: 'vendor', name: type, wire: block, elsewhere: type === 'container_upload' ? 'refuse' : 'drop', path }];
}

/** Moves the proofs of calls, which clients return in separate thinking blocks, to the calls. */
function placeCallProofs(parts: readonly Part[]): readonly Part[] {
  const proofs = new Map(
    parts.flatMap((part) => {
      const found = part.kind === 'reasoning' ? readCallProof(part.proof) : undefined;
      return found === undefined ? [] : [[found.callId, found.proof] as const];
    }),
  );
  if (proofs.size === 0) return parts;
  return parts.flatMap((part) => {
    if (part.kind === 'reasoning' && readCallProof(part.proof) !== undefined) return [];
    const proof = part.kind === 'tool-call' ? proofs.get(part.id) : undefined;
    return proof === undefined ? [part] : [{ ...part, proof }];
  });
}
