import { countOf, membersOf } from '../../platform/json/json-readers.ts';
import type { UpstreamDialect } from '../chat-dialect.ts';
import { codec } from './codec/codec.ts';
import { createStreamTap } from './create-stream-tap.ts';
import { readReply } from './read-reply.ts';

/** `POST /model/{id}/converse` and `/converse-stream` of AWS Bedrock. Only upstreams speak it. */
export const bedrockConverse: UpstreamDialect<'bedrock-converse'> = {
  id: 'bedrock-converse',
  title: 'Converse',
  telemetryOperation: 'chat',
  readFacts: ({ body }) => {
    const outputTokensMax = countOf(membersOf(body.inferenceConfig).maxTokens);
    return outputTokensMax === undefined ? {} : { outputTokensMax };
  },
  readReply,
  createStreamTap,
  // The usage comes after `messageStop`.
  hasEndMark: () => false,
  codec,
};
