import { compileLater } from '../../compile-later.ts';
import { isRecord } from '../../read-json.ts';
import { signReasoning } from '../../reasoning-signature.ts';
import type { JsonRecord, SimulatedRequest } from '../../simulated-vendor.ts';
import { refuse } from './anthropic-error.ts';
import { checkToolPairs } from './check-tool-pairs.ts';
import { findInvalidInput } from './find-invalid-input.ts';
import { countTokensSchema, messagesSchema, type MessagesRequest } from './messages-schema.ts';

export type Message = MessagesRequest['messages'][number];
export type Block = Exclude<Message['content'], string>[number];

const messagesValidator = compileLater(messagesSchema);
const countTokensValidator = compileLater(countTokensSchema);

/** Fields that exist only with a beta header, and the prefixes of the betas' names. */
const betaFields: Readonly<Record<string, readonly string[]>> = {
  context_management: ['context-management-', 'compact-'],
  mcp_servers: ['mcp-client-'],
  output_format: ['structured-outputs-'],
  thread: ['message-threads-'],
};

/**
 * Checks the body of a call for a message: shape, then the vendor's rules for one request. Pairs of tool calls are
 * checked on the whole thread.
 */
export function checkMessagesBody(request: SimulatedRequest): MessagesRequest {
  const body = checkShape(request, messagesSchema, messagesValidator.Check(request.body)) as MessagesRequest;
  checkBetas(request, body);
  const problem = findFieldProblem(body) ?? findThinkingProblem(body) ?? findToolProblem(body) ?? findCacheProblem(body);
  if (problem !== undefined) throw refuse(request, problem);
  return body;
}

/** Checks the body of a call that counts tokens, which has no output limits. */
export function checkCountTokensBody(request: SimulatedRequest): MessagesRequest {
  const body = checkShape(request, countTokensSchema, countTokensValidator.Check(request.body)) as Omit<MessagesRequest, 'max_tokens'>;
  const complete = { ...body, max_tokens: Number.MAX_SAFE_INTEGER };
  checkBetas(request, complete);
  const problem = findToolProblem(complete) ?? findCacheProblem(complete);
  if (problem !== undefined) throw refuse(request, problem);
  checkConversation(request, complete.messages, complete);
  return complete;
}

/** Checks the turns of a conversation, those of its thread included. */
export function checkConversation(request: SimulatedRequest, messages: readonly Message[], body: MessagesRequest): void {
  if (messages.length === 0) throw refuse(request, 'messages: at least one message is required');
  const problem =
    findContentProblem(messages) ?? checkToolPairs(messages) ?? findSignatureProblem(messages) ?? findMissingThinking(messages, body);
  if (problem !== undefined) throw refuse(request, problem);
}

function checkShape(request: SimulatedRequest, schema: object, isValid: boolean): JsonRecord {
  const body = request.body ?? {};
  if (!isValid) throw refuse(request, findInvalidInput(schema, body) ?? 'The request body is not valid.');
  return body;
}

function checkBetas(request: SimulatedRequest, body: MessagesRequest): void {
  const betas = (request.headers['anthropic-beta'] ?? '').split(',').map((beta) => beta.trim());
  for (const field in betaFields) {
    const value = body[field as keyof MessagesRequest];
    if (value === undefined || value === null) continue;
    const isOn = betas.some((beta) => betaFields[field]?.some((prefix) => beta.startsWith(prefix)));
    if (!isOn) throw refuse(request, `${field}: Extra inputs are not permitted`);
  }
}

function findFieldProblem(body: MessagesRequest): string | undefined {
  for (const [index, sequence] of (body.stop_sequences ?? []).entries()) {
    if (sequence.trim() === '') return `stop_sequences.${index}: each stop sequence must contain non-whitespace`;
  }
  const schema = body.output_config?.format?.schema ?? body.output_format?.schema;
  const place = body.output_config?.format ? 'output_config.format.schema' : 'output_format.schema';
  if (schema !== undefined && isOpenSchema(schema as JsonRecord)) {
    return `${place}: For 'object' type, 'additionalProperties' must be explicitly set to false`;
  }
  return undefined;
}

function isOpenSchema(schema: JsonRecord): boolean {
  if (schema['type'] === 'object' && schema['additionalProperties'] !== false) return true;
  return Object.values(schema).some((member) => {
    if (Array.isArray(member)) return member.some((item) => isRecord(item) && isOpenSchema(item));
    return isRecord(member) && isOpenSchema(member);
  });
}

function findThinkingProblem(body: MessagesRequest): string | undefined {
  const { thinking } = body;
  if (!thinking || thinking.type === 'disabled') return undefined;
  if (thinking.type === 'enabled') {
    if (body.max_tokens <= thinking.budget_tokens) return '`max_tokens` must be greater than `thinking.budget_tokens`.';
    if (body.temperature !== undefined && body.temperature !== null && body.temperature !== 1)
      return '`temperature` may only be set to 1 when thinking is enabled.';
    if (body.top_k !== undefined && body.top_k !== null) return '`top_k` must be unset when thinking is enabled.';
  }
  if (body.tool_choice?.type === 'any' || body.tool_choice?.type === 'tool')
    return 'Thinking may not be enabled when tool_choice forces tool use.';
  return undefined;
}

function findToolProblem(body: MessagesRequest): string | undefined {
  const names = (body.tools ?? []).flatMap((tool) => ('name' in tool ? [String(tool.name)] : []));
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  const choice = body.tool_choice;
  if (!choice) return undefined;
  // On a thread the tools are those of its creation.
  if (body.thread?.type === 'continue') return undefined;
  if (body.tools === undefined || body.tools.length === 0) {
    return choice.type === 'none' ? undefined : 'tool_choice: may only be specified while providing tools.';
  }
  if (choice.type === 'tool' && !names.includes(choice.name)) return `Tool '${choice.name}' not found in provided tools`;
  return undefined;
}

type Marked = { readonly cache_control?: { readonly ttl?: '5m' | '1h' } | null };

function findCacheProblem(body: MessagesRequest): string | undefined {
  const marks: ('5m' | '1h')[] = [];
  const visit = (item: Marked): void => {
    if (item.cache_control) marks.push(item.cache_control.ttl ?? '5m');
  };
  for (const tool of body.tools ?? []) visit(tool);
  if (Array.isArray(body.system)) for (const block of body.system) visit(block);
  for (const message of body.messages) {
    if (typeof message.content === 'string') continue;
    for (const block of message.content) visit(block as Marked);
  }
  if (body.cache_control) marks.push(body.cache_control.ttl ?? '5m');
  if (marks.length > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`;
  if (marks.lastIndexOf('1h') > marks.indexOf('5m') && marks.includes('5m') && marks.includes('1h')) {
    return "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.";
  }
  return undefined;
}

function findContentProblem(messages: readonly Message[]): string | undefined {
  const first = messages.find((message) => message.role !== 'system');
  if (first?.role === 'assistant') return 'messages: first message must use the "user" role';
  for (const [index, message] of messages.entries()) {
    const isFinalAssistant = index === messages.length - 1 && message.role === 'assistant';
    if (message.content.length === 0 && !isFinalAssistant) {
      return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
    }
    if (typeof message.content === 'string') continue;
    for (const [position, block] of message.content.entries()) {
      const problem = findBlockProblem(block, `messages.${index}.content.${position}`);
      if (problem !== undefined) return problem;
    }
  }
  const last = messages.at(-1);
  const text = last?.role === 'assistant' ? textAtEnd(last) : undefined;
  return text !== undefined && /\s$/.test(text) ? 'messages: final assistant content cannot end with trailing whitespace' : undefined;
}

function findBlockProblem(block: Block, place: string): string | undefined {
  if (block.type !== 'text' || !('text' in block) || typeof block.text !== 'string') return undefined;
  if (block.text === '') {
    return 'cache_control' in block && block.cache_control
      ? `${place}.text: cache_control cannot be set for empty text blocks`
      : 'messages: text content blocks must be non-empty';
  }
  return block.text.trim() === '' ? 'messages: text content blocks must contain non-whitespace text' : undefined;
}

function textAtEnd(message: Message): string | undefined {
  if (typeof message.content === 'string') return message.content;
  const last = message.content.at(-1);
  return last !== undefined && 'text' in last && typeof last.text === 'string' ? last.text : undefined;
}

/** Reasoning must be returned unchanged. Reasoning whose text was omitted cannot be checked. */
function findSignatureProblem(messages: readonly Message[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    if (typeof message.content === 'string') continue;
    for (const [position, block] of message.content.entries()) {
      if (!('signature' in block) || block.type !== 'thinking' || block.thinking === '') continue;
      if (block.signature !== signReasoning(block.thinking))
        return `messages.${index}.content.${position}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
  return undefined;
}

function findMissingThinking(messages: readonly Message[], body: MessagesRequest): string | undefined {
  if (body.thinking?.type !== 'enabled') return undefined;
  const index = messages.findLastIndex((message) => message.role === 'assistant');
  const content = messages[index]?.content;
  if (content === undefined || typeof content === 'string' || !content.some((block) => block.type === 'tool_use')) return undefined;
  const first = content[0]?.type ?? '';
  if (first === 'thinking' || first === 'redacted_thinking') return undefined;
  return `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`;
}
