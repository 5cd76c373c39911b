import { countOf, membersOf } from '../../../platform/json/json-readers.ts';
import type { ChatCodec } from '../../chat-codec.ts';
import { decodeError } from './decode-error.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeCountRequest, encodeRequest, holdsFormat } from './encode-request.ts';
import { encodeUsage } from './encode-usage.ts';
import { createEventDecoder } from './event-decoder.ts';
import { createEventEncoder } from './event-encoder.ts';
import { fieldNames } from './field-names.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';

/** Messages to and from the neutral form. */
export const codec: ChatCodec = {
  fieldNames,
  toolNames: {
    'web-search': ['web_search'],
    'code-execution': ['code_execution'],
    'file-search': [],
    'url-context': ['web_fetch'],
    'image-generation': [],
  },
  toolIdPrefixes: {
    'web-search': 'srvtoolu',
    'file-search': 'srvtoolu',
    'code-execution': 'srvtoolu',
    'url-context': 'srvtoolu',
    'image-generation': 'srvtoolu',
    other: 'srvtoolu',
  },
  takesAddressOf: ['image', 'file', 'audio', 'video'],
  readsWordDocuments: false,
  decodeRequest,
  encodeRequest,
  holdsFormat,
  encodeCountRequest,
  decodeCount: (reply) => countOf(membersOf(reply).input_tokens),
  encodeCount: (inputTokens) => ({ input_tokens: inputTokens }),
  decodeReply,
  encodeReply,
  createEventDecoder,
  createEventEncoder,
  encodeUsage: (usage) => encodeUsage(usage),
  decodeError,
  removeForeignProofs,
  saysFailure: false,
  saysStopSequence: true,
};
