import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import type { ChatDialect } from './chat-dialect.ts';
import type { DialectId } from './dialect-id.ts';
import { geminiGenerateContent } from './gemini-generate-content/gemini-generate-content.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';

/** Every chat dialect. The conformance suites run for each entry. */
export const chatDialects: Readonly<Record<DialectId, ChatDialect>> = {
  'anthropic-messages': anthropicMessages,
  'openai-responses': openaiResponses,
  'openai-chat': openaiChat,
  'gemini-generate-content': geminiGenerateContent,
};

// The keys are those of the table.
export const dialectIds = Object.keys(chatDialects) as readonly DialectId[];
