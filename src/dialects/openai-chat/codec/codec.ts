import type { ChatCodec } from '../../chat-codec.ts';
import { decodeError } from './decode-error.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { holdsFormat } from './encode-output-format.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeUsage } from './encode-usage.ts';
import { createEventDecoder } from './event-decoder.ts';
import { createEventEncoder } from './event-encoder.ts';
import { fieldNames } from './field-names.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';

/** Translates chat completions to and from the neutral form. The dialect has no token counter. */
export const codec: ChatCodec = {
  fieldNames,
  toolNames: { 'web-search': [], 'code-execution': [], 'file-search': [], 'url-context': [], 'image-generation': [] },
  toolIdPrefixes: {
    'web-search': 'tool',
    'file-search': 'tool',
    'code-execution': 'tool',
    'url-context': 'tool',
    'image-generation': 'tool',
    other: 'tool',
  },
  takesAddressOf: ['image'],
  readsWordDocuments: false,
  decodeRequest,
  encodeRequest,
  holdsFormat,
  decodeReply,
  encodeReply,
  createEventDecoder,
  createEventEncoder,
  encodeUsage,
  decodeError,
  removeForeignProofs,
  saysFailure: true,
  saysStopSequence: false,
};
