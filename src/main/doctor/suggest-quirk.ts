import type { CheckName } from './finding.ts';
import type { Conversation } from './speak.ts';

/** Fields that a refusal may name, and the setting that stops Weir from sending them. */
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

/** The likely setting for a failed check, if the server does not name a reason. */
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

function write({ checked }: Conversation, setting: string): string {
  return `set quirks: { ${setting} } for upstream ${checked.upstream.id} in weir.yaml`;
}

/**
 * The quirk that stops Weir from sending a refused field: by the server's message, else by the check. Undefined if no
 * setting is likely to help.
 */
export function suggestQuirk(conversation: Conversation, check: CheckName, said: string): string | undefined {
  const named = byWords.find(([words]) => words.test(said))?.[1];
  if (named !== undefined) return write(conversation, named);
  const guess = byCheck[check];
  // Weir knows the traits of a vendor's own service, so no quirk is suggested.
  if (guess === undefined || conversation.checked.upstream.vendor.presets === undefined) return undefined;
  return `if the server lacks this, ${write(conversation, guess)}`;
}
