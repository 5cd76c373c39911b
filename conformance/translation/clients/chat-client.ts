import type { TranslationClient } from '../conversation.ts';
import { readBrokenCompletionStream, readCompletion, readCompletionStream, readOpenaiError } from './read-chat.ts';
import { writeChatCall } from './write-chat.ts';

export const chatClient: TranslationClient = {
  dialect: 'openai-chat',
  title: 'Chat completions',
  spelling: {
    tools: 'tools',
    choice: 'tool_choice',
    parallel: 'parallel_tool_calls',
    outputTokensMax: 'max_completion_tokens',
    temperature: 'temperature',
    topP: 'top_p',
    seed: 'seed',
    presencePenalty: 'presence_penalty',
    frequencyPenalty: 'frequency_penalty',
    stop: 'stop',
    user: 'user',
    tier: 'service_tier',
    thinking: 'reasoning_effort',
    format: 'response_format',
    turns: 'messages',
  },
  write: writeChatCall,
  readWhole: readCompletion,
  readStream: readCompletionStream,
  readError: readOpenaiError,
  readBrokenStream: readBrokenCompletionStream,
};
