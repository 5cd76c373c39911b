import type { TranslationClient } from '../conversation.ts';
import { readBrokenMessageStream, readMessage, readMessagesError, readMessageStream } from './read-messages.ts';
import { writeMessagesCall } from './write-messages.ts';

export const messagesClient: TranslationClient = {
  dialect: 'anthropic-messages',
  title: 'Messages',
  spelling: {
    tools: 'tools',
    choice: 'tool_choice',
    parallel: 'tool_choice.disable_parallel_tool_use',
    outputTokensMax: 'max_tokens',
    temperature: 'temperature',
    topP: 'top_p',
    topK: 'top_k',
    stop: 'stop_sequences',
    user: 'metadata.user_id',
    tier: 'service_tier',
    thinking: 'thinking',
    format: 'output_config.format',
    turns: 'messages',
  },
  write: writeMessagesCall,
  readWhole: readMessage,
  readStream: readMessageStream,
  readError: readMessagesError,
  readBrokenStream: readBrokenMessageStream,
};
