import type { CheckName } from './finding.ts';
import type { Conversation } from './speak.ts';

/** What a server's refusal names, and the setting that keeps Weir from sending it. */
const byWords: readonly (readonly [words: RegExp, setting: string])[] = [
  [/stream_options|include_usage/i, 'streamOptions: false'],
  [/max_completion_tokens.{0,80}(?:not supported|unknown|unrecognized|unexpected|extra|not permitted)/i, 'outputLimitField: max_tokens'],
  [/max_tokens.{0,120}(?:max_completion_tokens|not supported|deprecated)/i, 'outputLimitField: max_completion_tokens'],
  [/parallel_tool_calls/i, 'parallelToolCallsField: false'],
  [/tool_choice/i, 'forcedToolChoice: false'],
  [/response_format|json_schema|guided|text\.format|output_config/i, 'structuredOutput: false'],
  [/reasoning_effort|chat_template_kwargs|enable_thinking|\breasoning\b|\bthink(?:ing)?\b/i, 'reasoning: none'],
  [/\bdeveloper\b.{0,60}role|role.{0,60}\bdeveloper\b/i, 'systemRole: system'],
  [/temperature|top_p/i, 'fixedSampling: true'],
];

/** What may be behind a failing check where the server does not say it. */
const byCheck: Partial<Record<CheckName, string>> = {
  stream: 'streamOptions: false',
  stop: 'outputLimitField: max_completion_tokens (or max_tokens)',
  'stream-usage': 'streamOptions: true',
  system: 'systemRole: system (or developer)',
  tool: 'forcedToolChoice: false',
  'tool-stream': 'forcedToolChoice: false',
  'tool-result': 'reasoningHistoryField: reasoning_content (or reasoning), if it wants earlier thoughts back',
  json: 'structuredOutput: false',
};

function write({ patient }: Conversation, setting: string): string {
  return `set quirks: { ${setting} } for upstream ${patient.upstream.id} in weir.yaml`;
}

/**
 * The quirk that keeps Weir from sending what a server refused: by what the server says, else by what the check was about. Undefined where no
 * setting is likely to help.
 */
export function suggestQuirk(conversation: Conversation, check: CheckName, said: string): string | undefined {
  const named = byWords.find(([words]) => words.test(said))?.[1];
  if (named !== undefined) return write(conversation, named);
  const guess = byCheck[check];
  // What a vendor's own service does is Weir's business to know: nobody has to guess at its quirks.
  if (guess === undefined || conversation.patient.upstream.vendor.presets === undefined) return undefined;
  return `if the server lacks this, ${write(conversation, guess)}`;
}
