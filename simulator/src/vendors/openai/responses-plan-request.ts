import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { Json, JsonRecord, PlanRequest } from '../../simulated-vendor.ts';
import { openaiFlavor } from './chat-flavor.ts';
import type { ResponsesContext } from './responses-context.ts';
import type { ResponsesRequest } from './responses-request-schema.ts';

/** A tool that the model may call, with the name by which the plan knows it. */
export type CallableTool = {
  readonly planName: string;
  readonly name: string;
  readonly namespace?: string;
  readonly type: 'function' | 'custom';
  readonly schema: JsonRecord;
};

/** The vendor caches automatically, in steps of 128 tokens from 1,024 tokens on; a token is four characters here. */
const cacheStepCharacters = 128 * 4;
const cachedCharactersMin = 1024 * 4;

// The shape of a custom tool's plain text input, from which the plan can generate one.
const customToolSchema: JsonRecord = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

const reasoningBudgets = { none: 0, minimal: 4, low: 8, medium: 24, high: 32, xhigh: 40, max: 48 } as const;

/** Converts a call into the simulator's neutral form. */
export function toPlanRequest(body: ResponsesRequest, context: ResponsesContext): PlanRequest {
  const items = [...context.earlierItems, ...context.inputItems];
  const promptText = [body.instructions ?? '', ...items.map(textOfItem)].filter((text) => text !== '').join('\n');
  const lastUser = items.findLast((item) => item.role === 'user');
  const outputSchema = readOutputSchema(body);
  const budgetTokens = reasoningBudgets[reasoningEffort(body) ?? 'none'];
  const cached = promptText.length < cachedCharactersMin ? 0 : promptText.length - (promptText.length % cacheStepCharacters);
  return {
    model: body.model,
    promptText,
    lastUserText: lastUser ? textOfItem(lastUser) : '',
    mediaCount: items.reduce((count, item) => count + countMedia(item.content) + countMedia(item.output), 0),
    tools: callableTools(body).map((tool) => ({ name: tool.planName, schema: tool.schema })),
    toolChoice: readToolChoice(body),
    parallelToolCalls: body.parallel_tool_calls ?? true,
    answersToolResult: asText(items.at(-1)?.type).endsWith('_output'),
    ...(outputSchema && { outputSchema }),
    stopSequences: [],
    ...(typeof body.max_output_tokens === 'number' && { outputTokensMax: body.max_output_tokens }),
    ...(budgetTokens > 0 && { thinking: { budgetTokens } }),
    cachedPrefixCharacters: cached,
    cacheLifetime: '5m',
    cachedTools: cached > 0,
    freeCacheWrites: !openaiFlavor.reportsCacheWrites(body.model),
  };
}

/** The model's effort: the requested one, otherwise the vendor's `medium` for its reasoning models, otherwise none. */
export function reasoningEffort(body: ResponsesRequest): keyof typeof reasoningBudgets | undefined {
  return body.reasoning?.effort ?? (body.reasoning || openaiFlavor.reasonsByDefault(body.model) ? 'medium' : undefined);
}

/** Functions and custom tools, those inside namespaces included, as far as the tool choice permits them. */
export function callableTools(body: ResponsesRequest): readonly CallableTool[] {
  const all: CallableTool[] = [];
  for (const tool of body.tools ?? []) {
    if (tool.type === 'function' || tool.type === 'custom') all.push(toCallable(tool));
    if (tool.type === 'namespace') all.push(...tool.tools.map((nested) => toCallable(nested, tool.name)));
  }
  const choice = body.tool_choice;
  if (typeof choice !== 'object' || choice?.type !== 'allowed_tools') return all;
  const allowed = new Set(choice.tools.map((tool) => tool.name));
  return all.filter((tool) => allowed.has(tool.name));
}

/** True if there is a web search tool and the tool choice lets the model use it. */
export function mayCallWebSearch(body: ResponsesRequest): boolean {
  const choice = body.tool_choice ?? 'auto';
  const isSent = (body.tools ?? []).some((tool) => tool.type.startsWith('web_search'));
  if (!isSent || choice === 'none') return false;
  if (typeof choice === 'string') return true;
  if (choice.type === 'allowed_tools') return choice.tools.some((tool) => asText(tool.type).startsWith('web_search'));
  return choice.type.startsWith('web_search');
}

/** All text of an item, as the model would read it. */
function textOfItem(item: JsonRecord): string {
  const pieces = [item.name, item.arguments, item.input, textOf(item.content), textOf(item.output), textOf(item.summary)];
  return pieces
    .map(asText)
    .filter((piece) => piece !== '')
    .join('\n');
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return recordsOf(content)
    .map((part) => asText(part.text ?? part.refusal))
    .filter((text) => text !== '')
    .join('\n');
}

function countMedia(content: Json | undefined): number {
  return recordsOf(content).filter((part) => /^(input_(image|file|audio)|computer_screenshot)$/.test(asText(part.type))).length;
}

type DeclaredTool = { readonly type: 'function' | 'custom'; readonly name: string; readonly parameters?: Record<string, unknown> | null };

function toCallable(tool: DeclaredTool, namespace?: string): CallableTool {
  return {
    planName: namespace === undefined ? tool.name : `${namespace}.${tool.name}`,
    name: tool.name,
    ...(namespace !== undefined && { namespace }),
    type: tool.type,
    schema: tool.type === 'custom' ? customToolSchema : isRecord(tool.parameters) ? tool.parameters : { type: 'object' },
  };
}

function readToolChoice(body: ResponsesRequest): PlanRequest['toolChoice'] {
  const choice = body.tool_choice ?? 'auto';
  if (typeof choice === 'string') return choice;
  if (choice.type === 'allowed_tools') return choice.mode;
  if (!('name' in choice) || (choice.type !== 'function' && choice.type !== 'custom')) {
    // A built-in tool was chosen, so the caller's own tools stay unused.
    return 'none';
  }
  const tool = callableTools(body).find((callable) => callable.type === choice.type && callable.name === choice.name);
  return { name: tool?.planName ?? choice.name };
}

function readOutputSchema(body: ResponsesRequest): JsonRecord | undefined {
  const format = body.text?.format;
  if (format?.type === 'json_object') return {};
  return format?.type === 'json_schema' && isRecord(format.schema) ? format.schema : undefined;
}
