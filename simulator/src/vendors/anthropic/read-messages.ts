import type { JsonRecord, PlanRequest } from '../../simulated-vendor.ts';
import type { Block, Message } from './check-messages.ts';
import type { MessagesRequest } from './messages-schema.ts';

/**
 * The prompt while it is being collected: text in the order in which the model reads it, and the position of the last
 * cache mark.
 */
type Prompt = {
  readonly parts: string[];
  length: number;
  mediaCount: number;
  cachedPrefixCharacters: number;
  cacheLifetime: '5m' | '1h';
};

type Marked = { readonly cache_control?: { readonly ttl?: '5m' | '1h' } | null };

/** The plan's input from a call for a message. `messages` are those of the whole thread. */
export function readMessages(body: MessagesRequest, messages: readonly Message[]): PlanRequest {
  const prompt: Prompt = { parts: [], length: 0, mediaCount: 0, cachedPrefixCharacters: 0, cacheLifetime: '5m' };
  readSystem(prompt, body.system);
  for (const message of messages) readMessage(prompt, message);
  const promptText = prompt.parts.join('\n');
  if (body.cache_control) {
    prompt.cachedPrefixCharacters = promptText.length;
    prompt.cacheLifetime = body.cache_control.ttl ?? '5m';
  }
  const last = messages.at(-1);
  const outputSchema = body.output_config?.format?.schema ?? body.output_format?.schema;
  return {
    model: body.model,
    promptText,
    lastUserText: readLastUserText(messages),
    mediaCount: prompt.mediaCount,
    ...readTools(body),
    answersToolResult: last !== undefined && typeof last.content !== 'string' && last.content.some((block) => block.type === 'tool_result'),
    ...(outputSchema !== undefined && { outputSchema: outputSchema as JsonRecord }),
    stopSequences: body.stop_sequences ?? [],
    outputTokensMax: body.max_tokens,
    ...readThinking(body),
    cachedPrefixCharacters: prompt.cachedPrefixCharacters,
    cacheLifetime: prompt.cacheLifetime,
  };
}

function readSystem(prompt: Prompt, system: MessagesRequest['system']): void {
  if (typeof system === 'string') add(prompt, system);
  else for (const block of system ?? []) readBlock(prompt, block);
}

function readMessage(prompt: Prompt, message: Message): void {
  if (typeof message.content === 'string') add(prompt, message.content);
  else for (const block of message.content) readBlock(prompt, block);
}

function add(prompt: Prompt, text: string): void {
  prompt.length += text.length + (prompt.parts.length > 0 ? 1 : 0);
  prompt.parts.push(text);
}

function readBlock(prompt: Prompt, block: Block): void {
  readContent(prompt, block);
  const mark = (block as Marked).cache_control;
  if (!mark) return;
  prompt.cachedPrefixCharacters = prompt.length;
  prompt.cacheLifetime = mark.ttl ?? '5m';
}

function readContent(prompt: Prompt, block: Block): void {
  if ('text' in block && typeof block.text === 'string') add(prompt, block.text);
  else if ('thinking' in block && typeof block.thinking === 'string') add(prompt, block.thinking);
  else if ('input' in block) add(prompt, `${String(block.name)} ${JSON.stringify(block.input)}`);
  else if ('source' in block && typeof block.source === 'object') readSource(prompt, block.source as JsonRecord);
  else if ('content' in block) readNested(prompt, block.content);
}

function readSource(prompt: Prompt, source: JsonRecord): void {
  if (source['type'] === 'text' && typeof source['data'] === 'string') add(prompt, source['data']);
  else if (source['type'] === 'content') readNested(prompt, source['content']);
  else prompt.mediaCount += 1;
}

function readNested(prompt: Prompt, content: unknown): void {
  if (typeof content === 'string') add(prompt, content);
  else if (Array.isArray(content)) for (const block of content) readBlock(prompt, block as Block);
  else if (content !== undefined) add(prompt, JSON.stringify(content));
}

/** A message with only results has no text: the earlier text remains the last one. */
function readLastUserText(messages: readonly Message[]): string {
  for (const message of messages.toReversed()) {
    const text = message.role === 'user' ? textOf(message) : '';
    if (text !== '') return text;
  }
  return '';
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : [])).join('\n');
}

function readTools(body: MessagesRequest): Pick<PlanRequest, 'tools' | 'toolChoice' | 'parallelToolCalls' | 'cachedTools'> {
  const tools: { name: string; schema: JsonRecord }[] = [];
  let cachedTools = false;
  for (const tool of body.tools ?? []) {
    if ('input_schema' in tool) tools.push({ name: String(tool.name), schema: tool.input_schema });
    cachedTools ||= Boolean((tool as Marked).cache_control);
  }
  const choice = body.tool_choice;
  const toolChoice = choice?.type === 'tool' ? { name: choice.name } : choice?.type === 'any' ? 'required' : (choice?.type ?? 'auto');
  const parallelToolCalls = !(choice && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use === true);
  return { tools, toolChoice, parallelToolCalls, ...(cachedTools && { cachedTools }) };
}

function readThinking(body: MessagesRequest): Pick<PlanRequest, 'thinking'> {
  const { thinking } = body;
  if (!thinking || thinking.type === 'disabled') return {};
  return { thinking: thinking.type === 'enabled' ? { budgetTokens: thinking.budget_tokens } : {} };
}
