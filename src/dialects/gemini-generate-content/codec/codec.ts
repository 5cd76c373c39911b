import type { InferenceRequest } from '../../../inference/inference-request.ts';
import { countOf, membersOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ChatCodec, RequestFit } from '../../chat-codec.ts';
import { decodeError } from './decode-error.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeUsage } from './encode-usage.ts';
import { createEventDecoder } from './event-decoder.ts';
import { createEventEncoder } from './event-encoder.ts';
import { fieldNames } from './field-names.ts';
import { holdsFormat } from './holds-format.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';

/** Writes a request for a count, which includes instructions and tools. Inside a count, it names its model. */
function encodeCountRequest(request: InferenceRequest, fit: RequestFit): JsonObject {
  const { upstreamModel } = fit;
  const model = upstreamModel.includes('/') ? upstreamModel : `models/${upstreamModel}`;
  return { generateContentRequest: { model, ...encodeRequest(request, fit).body } };
}

/** Proto may write counts as text. */
function decodeCount(reply: unknown): number | undefined {
  const { totalTokens } = membersOf(reply);
  return countOf(typeof totalTokens === 'string' ? Number(totalTokens) : totalTokens);
}

/** Both directions between generate-content and the neutral form. */
export const codec: ChatCodec = {
  fieldNames,
  toolNames: {
    'web-search': ['google_search', 'googleSearch'],
    'code-execution': ['code_execution', 'codeExecution'],
    'file-search': [],
    'url-context': ['url_context', 'urlContext'],
    'image-generation': [],
  },
  toolIdPrefixes: {
    'web-search': 'tool',
    'file-search': 'tool',
    'code-execution': 'tool',
    'url-context': 'tool',
    'image-generation': 'tool',
    other: 'tool',
  },
  takesAddressOf: ['image', 'file', 'audio', 'video'],
  readsWordDocuments: false,
  decodeRequest,
  encodeRequest,
  holdsFormat,
  encodeCountRequest,
  decodeCount,
  encodeCount: (inputTokens) => ({ totalTokens: inputTokens }),
  decodeReply,
  encodeReply,
  createEventDecoder,
  createEventEncoder,
  encodeUsage: (usage) => encodeUsage({ usage }),
  decodeError,
  removeForeignProofs,
  saysFailure: true,
  saysStopSequence: false,
};
