import type { Received } from '../conversation.ts';
import type { Wire } from '../wire.ts';
import { type CallNumbers, describeCall, describeMedia, numberCalls } from './number-calls.ts';

const blocksOf = (content: Wire): readonly Wire[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);

function describeSource(type: string, source: Wire): string {
  if (source.type === 'base64') return describeMedia(source.media_type, source.data);
  if (source.type === 'url') return `[${source.url}]`;
  return source.type === 'text' ? `[text: ${source.data}]` : `[${type} ${JSON.stringify(source)}]`;
}

function describeBlock(block: Wire, calls: CallNumbers): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'document':
      return describeSource(block.type, block.source);
    case 'tool_use':
      return describeCall(calls.call(block.name, block.id), block.name, block.input);
    case 'tool_result': {
      const parts = blocksOf(block.content ?? '').map((part) => describeBlock(part, calls));
      return `${block.is_error === true ? 'failed ' : ''}result ${calls.result(undefined, block.tool_use_id)} ${parts.join(' + ')}`;
    }
    case 'thinking':
      return `thought ${block.thinking}`;
    default:
      return JSON.stringify(block);
  }
}

function readChoice(choice: Wire): string {
  if (choice === undefined) return '';
  if (choice.type === 'tool') return `tool ${choice.name}`;
  return choice.type === 'any' ? 'required' : choice.type;
}

function readThinking({ thinking, output_config: config }: Wire): string {
  const effort = config?.effort === undefined ? '' : `effort ${config.effort}`;
  if (thinking === undefined) return effort;
  if (thinking.type === 'disabled') return 'off';
  return thinking.type === 'enabled' ? `budget ${thinking.budget_tokens}` : effort || 'adaptive';
}

/** Reads the request of a Messages upstream. */
export function receiveMessages(body: Wire): Received {
  const calls = numberCalls();
  const tools: readonly Wire[] = body.tools ?? [];
  const functions = tools.filter((tool) => tool.input_schema !== undefined);
  const search = tools.find((tool) => tool.type?.startsWith('web_search'));
  const blocks: readonly Wire[] = body.messages.flatMap(({ content }: Wire) => blocksOf(content));
  return {
    system: blocksOf(body.system ?? [])
      .map(({ text }) => text)
      .join('\n\n'),
    turns: body.messages.flatMap(({ role, content }: Wire) => blocksOf(content).map((block) => `${role}: ${describeBlock(block, calls)}`)),
    tools: functions.map(({ name }) => name),
    schemas: Object.fromEntries(functions.map((tool) => [tool.name, tool.input_schema])),
    choice: readChoice(body.tool_choice),
    parallel: body.tool_choice?.disable_parallel_tool_use === undefined ? undefined : !body.tool_choice.disable_parallel_tool_use,
    outputTokensMax: body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    seed: undefined,
    presencePenalty: undefined,
    frequencyPenalty: undefined,
    stop: body.stop_sequences ?? [],
    user: body.metadata?.user_id,
    tier: body.service_tier,
    thinking: readThinking(body),
    format: body.output_config?.format?.schema ?? body.output_format?.schema,
    search: search === undefined ? '' : ['search', ...(search.allowed_domains ?? [])].join(' '),
    proofs: blocks.flatMap((block) => block.signature ?? []),
  };
}
