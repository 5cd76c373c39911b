import type { JsonRecord, PlanRequest } from '../../simulated-vendor.ts';
import type { ChatFlavor } from './chat-flavor.ts';
import type { ChatMessage, ChatRequest } from './chat-schema.ts';
import type { CheckedChat } from './check-chat.ts';

/** Prefixes are cached automatically from 1,024 tokens on, in steps of 128. */
const cachedCharactersMin = 4_096;
const cachedCharactersStep = 512;

type Prompt = { readonly parts: string[]; mediaCount: number };

/** The plan's input from a chat completion. */
export function readChat({ body, messages }: CheckedChat, flavor: ChatFlavor): PlanRequest {
  const prompt: Prompt = { parts: [], mediaCount: 0 };
  for (const message of messages) readMessage(prompt, message);
  const promptText = prompt.parts.join('\n');
  const isCached = promptText.length >= cachedCharactersMin;
  const outputTokensMax = body.max_completion_tokens ?? body.max_tokens;
  return {
    model: body.model,
    promptText,
    lastUserText: readLastUserText(messages),
    mediaCount: prompt.mediaCount,
    ...readTools(body),
    answersToolResult: messages.at(-1)?.role === 'tool',
    ...readFormat(body),
    stopSequences: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? []),
    ...(outputTokensMax !== undefined && outputTokensMax !== null && { outputTokensMax }),
    ...(isReasoning(body, flavor) && { thinking: {} }),
    cachedPrefixCharacters: isCached ? promptText.length - (promptText.length % cachedCharactersStep) : 0,
    cacheLifetime: '5m',
    freeCacheWrites: !flavor.reportsCacheWrites(body.model),
  };
}

function isReasoning(body: ChatRequest, flavor: ChatFlavor): boolean {
  const effort = body.reasoning_effort;
  return effort === undefined || effort === null ? flavor.reasonsByDefault(body.model) : effort !== 'none';
}

function readMessage(prompt: Prompt, message: ChatMessage): void {
  if (message.role === 'assistant' && message.reasoning_content) prompt.parts.push(message.reasoning_content);
  if (typeof message.content === 'string') prompt.parts.push(message.content);
  else for (const part of message.content ?? []) readPart(prompt, part);
  if (message.role !== 'assistant') return;
  for (const call of message.tool_calls ?? []) {
    prompt.parts.push(
      call.type === 'function' ? `${call.function.name} ${call.function.arguments}` : `${call.custom.name} ${call.custom.input}`,
    );
  }
}

function readPart(prompt: Prompt, part: { readonly type: string; readonly text?: string; readonly refusal?: string }): void {
  if (part.text !== undefined) prompt.parts.push(part.text);
  else if (part.refusal !== undefined) prompt.parts.push(part.refusal);
  else prompt.mediaCount += 1;
}

function readLastUserText(messages: readonly ChatMessage[]): string {
  const message = messages.findLast((candidate) => candidate.role === 'user');
  if (message === undefined) return '';
  if (typeof message.content === 'string') return message.content;
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function readTools(body: ChatRequest): Pick<PlanRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'> {
  const tools: { name: string; schema: JsonRecord }[] = [];
  for (const tool of body.tools ?? []) {
    // A tool without parameters has no arguments. Free-form tools are never called.
    if (tool.type === 'function')
      tools.push({
        name: tool.function.name,
        schema: (tool.function.parameters as JsonRecord | undefined) ?? { type: 'object', properties: {} },
      });
  }
  return { tools, toolChoice: readToolChoice(body.tool_choice), parallelToolCalls: body.parallel_tool_calls !== false };
}

function readToolChoice(choice: ChatRequest['tool_choice']): PlanRequest['toolChoice'] {
  if (choice === undefined || choice === null) return 'auto';
  if (typeof choice === 'string') return choice;
  if (choice.type === 'function') return { name: choice.function.name };
  return choice.type === 'allowed_tools' ? choice.allowed_tools.mode : 'auto';
}

function readFormat(body: ChatRequest): Pick<PlanRequest, 'outputSchema'> {
  const format = body.response_format;
  if (format?.type === 'json_object') return { outputSchema: {} };
  return format?.type === 'json_schema' ? { outputSchema: (format.json_schema.schema ?? {}) as JsonRecord } : {};
}
