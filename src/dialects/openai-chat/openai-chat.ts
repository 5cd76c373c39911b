import type { ChatDialect } from '../chat-dialect.ts';
import { bracketedItem } from '../format-path.ts';
import { openaiModelList } from '../openai-model-list.ts';
import { openaiLimitHeaders, openaiRateLimitHeaders } from '../openai-rate-limit-headers.ts';
import { codec } from './codec/codec.ts';
import { createStreamCutter } from './create-stream-cutter.ts';
import { createStreamTap } from './create-stream-tap.ts';
import { editRequest } from './edit-request.ts';
import { encodeError, encodeStreamError } from './encode-error.ts';
import { findStoredIds } from './find-stored-ids.ts';
import { readFacts } from './read-facts.ts';
import { readConversation, readFeatures } from './read-features.ts';
import { readReply } from './read-reply.ts';
import { requestSchema, validateRequest } from './validate-request.ts';
import { surveyRequest } from './survey-request.ts';

/** A comment, which every reader of server-sent events skips. */
const keepAlive = Buffer.from(': keep-alive\n\n');

export const openaiChat: ChatDialect = {
  id: 'openai-chat',
  title: 'Chat completions',
  telemetryOperation: 'chat',
  itemPath: bracketedItem,
  mediaMembers: { roots: ['messages'], through: ['content', 'file'], addresses: ['image_url', 'video_url', 'audio_url', 'file_data'] },
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
  readReply,
  editReply: (bytes) => bytes,
  createStreamTap,
  createStreamCutter,
  hasEndMark: () => true,
  voice: { encodeError, encodeStreamError, heartbeat: () => keepAlive, rateLimitHeaders: openaiRateLimitHeaders },
  codec,
};
