import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import { bedrockConverse } from './bedrock-converse/bedrock-converse.ts';
import type { ChatDialect, UpstreamDialect } from './chat-dialect.ts';
import type { DialectId, UpstreamDialectId } from './dialect-id.ts';
import { geminiGenerateContent } from './gemini-generate-content/gemini-generate-content.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';

/** Every dialect that clients speak. The conformance suites run for each entry. */
export const chatDialects: Readonly<Record<DialectId, ChatDialect>> = {
  'anthropic-messages': anthropicMessages,
  'openai-responses': openaiResponses,
  'openai-chat': openaiChat,
  'gemini-generate-content': geminiGenerateContent,
};

/** Every dialect that upstreams speak. */
export const upstreamDialects: Readonly<Record<UpstreamDialectId, UpstreamDialect>> = {
  ...chatDialects,
  'bedrock-converse': bedrockConverse,
};

// The keys are those of the table.
export const dialectIds = Object.keys(chatDialects) as readonly DialectId[];

/** Whether clients speak a dialect too. */
export function isClientDialect(id: UpstreamDialectId): id is DialectId {
  return Object.hasOwn(chatDialects, id);
}
