import type { ChatDialect } from '../chat-dialect.ts';
import { bracketedItem } from '../format-path.ts';
import { openaiModelList } from '../openai-model-list.ts';
import { openaiLimitHeaders, openaiRateLimitHeaders } from '../openai-rate-limit-headers.ts';
import { codec, encodeEvents } from './codec/codec.ts';
import { createEventCutter, createStreamCutter } from './create-stream-cutter.ts';
import { createStreamTap } from './create-stream-tap.ts';
import { editRequest } from './edit-request.ts';
import { encodeError } from './encode-error.ts';
import { describeStreamError, encodeStreamError } from './encode-stream-error.ts';
import { contextFitting } from './fit-context.ts';
import { findStoredIds } from './find-stored-ids.ts';
import { readFacts } from './read-facts.ts';
import { readConversation, readFeatures } from './read-features.ts';
import { readReply } from './read-reply.ts';
import { requestSchema } from './request-schema.ts';
import { validateRequest } from './validate-request.ts';
import { surveyRequest } from './survey-request.ts';

/** The Responses interface: `POST /v1/responses` and `POST /v1/responses/input_tokens`. */
export const openaiResponses: ChatDialect = {
  id: 'openai-responses',
  title: 'Responses',
  telemetryOperation: 'chat',
  itemPath: bracketedItem,
  mediaMembers: {
    roots: ['input', 'tools'],
    through: ['content', 'output', 'input_image_mask'],
    addresses: ['image_url', 'file_url'],
  },
  findStoredIds,
  modelList: openaiModelList,
  requestIdHeader: 'x-request-id',
  limitHeaders: openaiLimitHeaders,
  requestSchema,
  validateRequest,
  readFacts,
  surveyRequest,
  readFeatures,
  readConversation,
  editRequest,
  contextFitting,
  readReply,
  // The vendor sends everything that the contract requires.
  editReply: (bytes) => bytes,
  createStreamTap,
  createStreamCutter,
  events: { createEncoder: encodeEvents, createCutter: createEventCutter, describeError: describeStreamError },
  hasEndMark: () => true,
  voice: { encodeError, encodeStreamError, heartbeat: () => Buffer.from(': keep-alive\n\n'), rateLimitHeaders: openaiRateLimitHeaders },
  codec,
};
