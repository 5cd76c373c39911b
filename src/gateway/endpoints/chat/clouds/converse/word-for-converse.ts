/** Members of Messages that Converse has at another place. */
export const converseNames = {
  max_tokens: 'inferenceConfig.maxTokens',
  temperature: 'inferenceConfig.temperature',
  top_p: 'inferenceConfig.topP',
  stop_sequences: 'inferenceConfig.stopSequences',
  tools: 'toolConfig.tools',
  tool_choice: 'toolConfig.toolChoice',
} as const;

const fieldNames: Readonly<Record<string, string | undefined>> = {
  ...converseNames,
  output_config: 'outputConfig.textFormat',
  thinking: 'additionalModelRequestFields.thinking',
  top_k: 'additionalModelRequestFields.top_k',
};

/** An error about a request of Messages, by the names of Converse. */
export function wordForConverse(message: string): string {
  return message.replace(/^[a-z_]+/, (name) => (Object.hasOwn(fieldNames, name) ? (fieldNames[name] ?? name) : name));
}
