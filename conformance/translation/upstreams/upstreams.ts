import type { DialectId } from '../../../src/dialects/dialect-id.ts';
import type { Received } from '../conversation.ts';
import type { Wire } from '../wire.ts';
import { receiveChat } from './receive-chat.ts';
import { receiveGenerate } from './receive-generate.ts';
import { receiveMessages } from './receive-messages.ts';
import { receiveResponses } from './receive-responses.ts';

/** The suite's parsers for the requests of upstreams, by dialect. */
export const receiveAs: Readonly<Record<DialectId, (body: Wire) => Received>> = {
  'anthropic-messages': receiveMessages,
  'openai-responses': receiveResponses,
  'openai-chat': receiveChat,
  'gemini-generate-content': receiveGenerate,
};

// The keys are those of the table.
export const upstreamDialects = Object.keys(receiveAs) as readonly DialectId[];
