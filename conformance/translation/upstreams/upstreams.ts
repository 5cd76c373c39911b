import type { DialectId, UpstreamDialectId } from '../../../src/dialects/dialect-id.ts';
import type { Received } from '../conversation.ts';
import type { Wire } from '../wire.ts';
import { receiveChat } from './receive-chat.ts';
import { receiveConverse } from './receive-converse.ts';
import { receiveGenerate } from './receive-generate.ts';
import { receiveMessages } from './receive-messages.ts';
import { receiveResponses } from './receive-responses.ts';

/** The suite's parsers for the requests of upstreams, by dialect. */
export const receiveAs: Readonly<Record<UpstreamDialectId, (body: Wire) => Received>> = {
  'anthropic-messages': receiveMessages,
  'openai-responses': receiveResponses,
  'openai-chat': receiveChat,
  'gemini-generate-content': receiveGenerate,
  'bedrock-converse': receiveConverse,
};

// The keys are those of the table.
export const everyUpstream = Object.keys(receiveAs) as readonly UpstreamDialectId[];

/** Those that clients speak too. */
export const upstreamDialects = everyUpstream.filter((dialect): dialect is DialectId => dialect !== 'bedrock-converse');
