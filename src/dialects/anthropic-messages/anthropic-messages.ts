import type { ChatDialect } from '../chat-dialect.ts';
import { codec } from './codec/codec.ts';
import { contractReply } from './contract-reply.ts';
import { createStreamCutter } from './create-stream-cutter.ts';
import { createStreamTap } from './create-stream-tap.ts';
import { editRequest } from './edit-request.ts';
import { anthropicModelList } from './encode-models.ts';
import { encodeError, encodeStreamError } from './encode-error.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { findStoredIds } from './find-stored-ids.ts';
import { readFacts } from './read-facts.ts';
import { readConversation, readFeatures } from './read-features.ts';
import { readReply } from './read-reply.ts';
import { requestSchema, validateRequest } from './validate-request.ts';
import { surveyRequest } from './survey-request.ts';

/** The vendor's own heartbeat, byte for byte. */
const ping = Buffer.from('event: ping\ndata: {"type": "ping"}\n\n');

/** `POST /v1/messages` and `POST /v1/messages/count_tokens`. */
export const anthropicMessages: ChatDialect = {
  id: 'anthropic-messages',
  title: 'Messages',
  telemetryOperation: 'chat',
  itemPath: (path, index) => `${path}.${index}`,
  mediaMembers: { roots: ['messages'], through: ['content', 'source'], addresses: [] },
  findStoredIds,
  modelList: anthropicModelList,
  requestIdHeader: 'request-id',
  limitHeaders: ['anthropic-ratelimit-', 'anthropic-priority-'],
  requestSchema,
  validateRequest,
  readFacts,
  surveyRequest,
  readFeatures,
  readConversation,
  editRequest,
  readReply,
  editReply: (bytes) => bytes,
  contractReply,
  createStreamTap,
  createStreamCutter,
  hasEndMark: () => true,
  voice: { encodeError, encodeStreamError, heartbeat: () => ping, rateLimitHeaders },
  codec,
};
