import type { ServerToolPart, TextPart } from './inference-request.ts';

/** What of one run's output the model is told again, in characters. */
const outputCharactersMax = 20_000;

const fence = (text: string): string => `\`\`\`\n${text.endsWith('\n') ? text : `${text}\n`}\`\`\``;

/**
 * Code that ran earlier in the conversation, and its output, as text of the assistant: for upstreams that cannot replay the run itself.
 * Undefined for other tools, and where neither code nor output is known.
 */
export function codeAsText({ tool, input, results, failed, path }: ServerToolPart): TextPart | undefined {
  if (tool !== 'code-execution') return undefined;
  const code = input.join('\n');
  const output = (results ?? []).flatMap(({ text = '' }) => (text === '' ? [] : [text])).join('\n');
  const told = [
    ...(code === '' ? [] : [`[Code that was run]\n${fence(code)}`]),
    ...(output === '' ? [] : [`[Its output]\n${fence(output.slice(0, outputCharactersMax))}`]),
    ...(failed === true ? ['[It failed.]'] : []),
  ];
  if (code === '' && output === '') return undefined;
  return { kind: 'text', text: told.join('\n'), ...(path === undefined ? {} : { path }) };
}

/** Why a run is told as text, for the notes. */
export const codeAsTextReason = 'this upstream cannot replay code that ran elsewhere; code and output are sent as text';
