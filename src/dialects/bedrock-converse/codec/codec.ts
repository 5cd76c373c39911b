import { countOf, membersOf } from '../../../platform/json/json-readers.ts';
import type { UpstreamCodec } from '../../chat-codec.ts';
import { decodeError } from './decode-error.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeRequest, holdsFormat } from './encode-request.ts';
import { createEventDecoder } from './event-decoder.ts';
import { fieldNames } from './field-names.ts';

/** The neutral form to Converse, and its replies back. */
export const codec: UpstreamCodec = {
  fieldNames,
  // It takes bytes, and addresses in S3 only.
  takesAddressOf: [],
  readsWordDocuments: true,
  encodeRequest,
  holdsFormat,
  decodeCount: (reply) => countOf(membersOf(reply).inputTokens),
  decodeReply,
  createEventDecoder: (reading) => createEventDecoder(reading),
  decodeError,
  saysStopSequence: false,
};
