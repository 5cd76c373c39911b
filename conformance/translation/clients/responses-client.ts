import type { TranslationClient } from '../conversation.ts';
import { readOpenaiError } from './read-chat.ts';
import { readBrokenResponseStream, readResponse, readResponseStream } from './read-responses.ts';
import { writeResponsesCall } from './write-responses.ts';

export const responsesClient: TranslationClient = {
  dialect: 'openai-responses',
  title: 'Responses',
  spelling: {
    tools: 'tools',
    choice: 'tool_choice',
    parallel: 'parallel_tool_calls',
    outputTokensMax: 'max_output_tokens',
    temperature: 'temperature',
    topP: 'top_p',
    user: 'user',
    tier: 'service_tier',
    thinking: 'reasoning',
    format: 'text.format',
    turns: 'input',
  },
  write: writeResponsesCall,
  readWhole: readResponse,
  readStream: readResponseStream,
  readError: readOpenaiError,
  readBrokenStream: readBrokenResponseStream,
};
