import type { InferenceRequest } from '../../../inference/inference-request.ts';
import { countOf, membersOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { formatSse } from '../../../platform/sse/encode-sse.ts';
import type { ChatCodec, EventEncoder, ReplyWriting, RequestFit, StreamEventEncoder } from '../../chat-codec.ts';
import { compactionOf } from '../compaction.ts';
import { createCompactionEncoder } from './compaction-encoder.ts';
import { decodeError } from './decode-error.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest, holdsFormat } from './encode-request.ts';
import { encodeUsage } from './encode-usage.ts';
import { createEventDecoder } from './event-decoder.ts';
import { createStreamEventEncoder } from './event-encoder.ts';
import { fieldNames } from './field-names.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';

/**
 * Fields that the vendor's counter reads: everything that becomes part of the prompt (`POST /responses/input_tokens` of
 * its API description).
 */
const countedFields = new Set([
  'model',
  'input',
  'tools',
  'text',
  'reasoning',
  'truncation',
  'instructions',
  'tool_choice',
  'parallel_tool_calls',
]);

function encodeCountRequest(request: InferenceRequest, fit: RequestFit): JsonObject {
  const { body } = encodeRequest(request, fit);
  return Object.fromEntries(Object.entries(body).filter(([field]) => countedFields.has(field)));
}

/** Writes streams as events without framing. */
export function encodeEvents(writing: ReplyWriting): StreamEventEncoder {
  return writing.compaction === undefined ? createStreamEventEncoder(writing) : createCompactionEncoder(writing, writing.compaction);
}

/** Writes the events of an encoder as framed text. */
function encodeAsText(encoder: StreamEventEncoder): EventEncoder {
  return { ...encoder, write: (event) => encoder.write(event).map(formatSse).join('') };
}

export const codec: ChatCodec = {
  fieldNames,
  toolNames: {
    'web-search': ['web_search', 'web_search_preview'],
    'code-execution': ['code_interpreter'],
    'file-search': ['file_search'],
    'url-context': [],
    'image-generation': ['image_generation'],
  },
  toolIdPrefixes: {
    'web-search': 'ws',
    'file-search': 'fs',
    'code-execution': 'ci',
    'url-context': 'ws',
    'image-generation': 'ig',
    other: 'tool',
  },
  takesAddressOf: ['image', 'file', 'audio', 'video'],
  readsWordDocuments: true,
  decodeRequest,
  encodeRequest,
  holdsFormat,
  encodeCountRequest,
  encodeCount: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
  decodeCount: (reply) => countOf(membersOf(reply).input_tokens),
  compactionOf,
  decodeReply,
  encodeReply,
  createEventDecoder,
  createEventEncoder: (writing) => encodeAsText(encodeEvents(writing)),
  encodeUsage,
  decodeError,
  removeForeignProofs,
  saysFailure: true,
  saysStopSequence: false,
};
