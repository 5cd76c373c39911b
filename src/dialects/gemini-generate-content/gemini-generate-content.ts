import type { ChatDialect } from '../chat-dialect.ts';
import { bracketedItem } from '../format-path.ts';
import { codec } from './codec/codec.ts';
import { pictureCodec } from './codec/pictures.ts';
import { createStreamCutter } from './create-stream-cutter.ts';
import { createStreamTap } from './create-stream-tap.ts';
import { editReply } from './edit-reply.ts';
import { editRequest } from './edit-request.ts';
import { geminiModelList } from './encode-models.ts';
import { encodeError, encodeStreamError, heartbeat } from './encode-error.ts';
import { findStoredIds } from './find-stored-ids.ts';
import { readFacts } from './read-facts.ts';
import { readConversation, readFeatures } from './read-features.ts';
import { readReply } from './read-reply.ts';
import { requestSchema } from './request-schema.ts';
import { validateRequest } from './validate-request.ts';
import { surveyRequest } from './survey-request.ts';

/** The generate-content interface: `:generateContent`, `:streamGenerateContent` and `:countTokens` of a model. */
export const geminiGenerateContent: ChatDialect = {
  id: 'gemini-generate-content',
  title: 'Generate content',
  telemetryOperation: 'generate_content',
  itemPath: bracketedItem,
  mediaMembers: {
    roots: ['contents'],
    through: ['parts', 'fileData', 'file_data', 'functionResponse', 'function_response'],
    addresses: ['fileUri', 'file_uri'],
  },
  findStoredIds,
  modelList: geminiModelList,
  requestIdHeader: 'x-request-id',
  limitHeaders: [],
  requestSchema,
  validateRequest,
  readFacts,
  surveyRequest,
  readFeatures,
  readConversation,
  editRequest,
  readReply,
  editReply,
  createStreamTap,
  createStreamCutter,
  hasEndMark: (framing) => framing === 'json-array',
  // The vendor reports its limits only in the details of a 429.
  voice: { encodeError, encodeStreamError, heartbeat, rateLimitHeaders: () => ({}) },
  codec,
  images: pictureCodec,
};
