import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import { anthropicModelList } from './anthropic-messages/encode-models.ts';
import type { ChatDialect, DialectId } from './chat-dialect.ts';
import { geminiModelList } from './gemini-generate-content/encode-models.ts';
import { geminiGenerateContent } from './gemini-generate-content/gemini-generate-content.ts';
import type { ModelListFormat } from './model-lists.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiModelList } from './openai-chat/encode-models.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';

/** Every chat dialect. Joining this list is joining the conformance suite. */
export const chatDialects: Readonly<Record<DialectId, ChatDialect>> = {
  'anthropic-messages': anthropicMessages,
  'openai-responses': openaiResponses,
  'openai-chat': openaiChat,
  'gemini-generate-content': geminiGenerateContent,
};

/** How each dialect's clients want models listed. The two OpenAI interfaces share one list. */
export const modelLists: Readonly<Record<DialectId, ModelListFormat>> = {
  'anthropic-messages': anthropicModelList,
  'openai-responses': openaiModelList,
  'openai-chat': openaiModelList,
  'gemini-generate-content': geminiModelList,
};
