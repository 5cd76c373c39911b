import type { ResponseStatus } from '../../../../conversations/response-store.ts';
import { membersOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** The statuses of a response that is still being generated. */
export function isRunning(status: ResponseStatus): boolean {
  return status === 'queued' || status === 'in_progress';
}

/** Writes an event as it is stored and sent. Type and number come first, so that they can be read without parsing. */
export function writeEvent(type: string, sequence: number, members: JsonObject): string {
  const { type: _type, sequence_number: _number, ...rest } = members;
  return JSON.stringify({ type, sequence_number: sequence, ...rest });
}

/**
 * The text of an event with another number, without parsing it. Undefined if it must be parsed: it is about the
 * response as a whole, or its members are in another order.
 */
export function renumberEvent(event: string, sequence: number): string | undefined {
  const [head, type] = /^\{"type":"(response\.\w+\.[^"]*)","sequence_number":\d+,/.exec(event) ?? [];
  return head === undefined ? undefined : `{"type":"${type}","sequence_number":${sequence},${event.slice(head.length)}`;
}

/** The type of an event that `writeEvent` wrote. */
export function typeOfEvent(event: string): string {
  return /^\{"type":"([^"]*)"/.exec(event)?.[1] ?? '';
}

const terminalTypes: ReadonlySet<string> = new Set(
  ['completed', 'incomplete', 'failed', 'cancelled'].map((status) => `response.${status}`),
);

/** Whether an event is the last of its response. */
export function isTerminal(type: string): boolean {
  return terminalTypes.has(type);
}

/** The last event of a response that has ended. */
export function endEvent(response: JsonObject, sequence: number): string {
  return writeEvent(`response.${textOf(response.status) ?? 'failed'}`, sequence, { response });
}

/** The response as it was before any output. */
function withoutOutput(response: JsonObject, status: ResponseStatus): JsonObject {
  return { ...response, status, output: [], usage: null, error: null, incomplete_details: null, completed_at: null };
}

/** The steps that tools report while they run. */
const toolSteps: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  image_generation_call: ['in_progress', 'generating', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  mcp_list_tools: ['in_progress', 'completed'],
};

type EventDraft = { readonly type: string; readonly members: JsonObject };

/**
 * The events by which a stored response that has ended would have been streamed, numbered from 0. The whole text of a
 * part is one delta.
 * @param response as `GET /v1/responses/{id}` returns it
 */
export function eventsOfResponse(response: JsonObject): readonly string[] {
  const drafts: EventDraft[] = [
    { type: 'response.created', members: { response: withoutOutput(response, response.background === true ? 'queued' : 'in_progress') } },
    ...(response.background === true ? [{ type: 'response.queued', members: { response: withoutOutput(response, 'queued') } }] : []),
    { type: 'response.in_progress', members: { response: withoutOutput(response, 'in_progress') } },
  ];
  objectsOf(response.output).forEach((item, index) => drafts.push(...eventsOfItem(item, index)));
  const events = drafts.map(({ type, members }, sequence) => writeEvent(type, sequence, members));
  return [...events, endEvent(response, events.length)];
}

function eventsOfItem(item: JsonObject, output_index: number): readonly EventDraft[] {
  const inner = eventsInside(item, { item_id: item.id ?? '', output_index });
  return [
    { type: 'response.output_item.added', members: { output_index, item: openItem(item) } },
    ...inner,
    { type: 'response.output_item.done', members: { output_index, item } },
  ];
}

/** An item before any of its content. */
function openItem(item: JsonObject): JsonObject {
  switch (textOf(item.type)) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [], ...(item.content === undefined ? {} : { content: [] }) };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, input: '' };
    case undefined:
    default:
      return item.status === undefined ? item : { ...item, status: 'in_progress' };
  }
}

function eventsInside(item: JsonObject, place: JsonObject): readonly EventDraft[] {
  switch (textOf(item.type)) {
    case 'message':
      return objectsOf(item.content).flatMap((part, content_index) => eventsOfPart(part, { ...place, content_index }));
    case 'reasoning':
      return [
        ...objectsOf(item.summary).flatMap((part, summary_index) => eventsOfSummary(part, { ...place, summary_index })),
        ...objectsOf(item.content).flatMap((part, content_index) => eventsOfPart(part, { ...place, content_index })),
      ];
    case 'function_call':
      return eventsOfText('function_call_arguments', 'arguments', textOf(item.arguments) ?? '', place, { name: item.name ?? '' });
    case 'custom_tool_call':
      return eventsOfText('custom_tool_call_input', 'input', textOf(item.input) ?? '', place);
    case 'code_interpreter_call': {
      const code = textOf(item.code);
      const [first, ...rest] = stepsOf(item, place);
      return [
        ...(first === undefined ? [] : [first]),
        ...(code === undefined ? [] : eventsOfText('code_interpreter_call_code', 'code', code, place)),
        ...rest,
      ];
    }
    case undefined:
    default:
      return stepsOf(item, place);
  }
}

function stepsOf({ type }: JsonObject, place: JsonObject): readonly EventDraft[] {
  const kind = textOf(type) ?? '';
  const steps = Object.hasOwn(toolSteps, kind) ? (toolSteps[kind] ?? []) : [];
  return steps.map((step) => ({ type: `response.${kind}.${step}`, members: place }));
}

/** The delta of a text, which is one piece here, and its end. */
function eventsOfText(name: string, member: string, text: string, place: JsonObject, more: JsonObject = {}): readonly EventDraft[] {
  return [
    ...(text === '' ? [] : [{ type: `response.${name}.delta`, members: { ...place, delta: text } }]),
    { type: `response.${name}.done`, members: { ...place, ...more, [member]: text } },
  ];
}

function eventsOfPart(part: JsonObject, place: JsonObject): readonly EventDraft[] {
  const isText = part.type === 'output_text';
  const opened = part.type === 'refusal' ? { ...part, refusal: '' } : { ...part, text: '', ...(isText ? { annotations: [] } : {}) };
  return [
    { type: 'response.content_part.added', members: { ...place, part: opened } },
    ...eventsOfContent(part, place),
    { type: 'response.content_part.done', members: { ...place, part } },
  ];
}

function eventsOfContent(part: JsonObject, place: JsonObject): readonly EventDraft[] {
  if (part.type === 'refusal') return eventsOfText('refusal', 'refusal', textOf(part.refusal) ?? '', place);
  const text = textOf(part.text) ?? '';
  if (part.type === 'reasoning_text') return eventsOfText('reasoning_text', 'text', text, place);
  const annotations = objectsOf(part.annotations).map((annotation, annotation_index) => ({
    type: 'response.output_text.annotation.added',
    members: { ...place, annotation_index, annotation },
  }));
  const pieces = eventsOfText('output_text', 'text', text, { ...place, logprobs: membersOf(part)['logprobs'] ?? [] });
  return [...pieces.slice(0, -1), ...annotations, ...pieces.slice(-1)];
}

function eventsOfSummary(part: JsonObject, place: JsonObject): readonly EventDraft[] {
  const text = textOf(part.text) ?? '';
  return [
    { type: 'response.reasoning_summary_part.added', members: { ...place, part: { ...part, text: '' } } },
    ...eventsOfText('reasoning_summary_text', 'text', text, place),
    { type: 'response.reasoning_summary_part.done', members: { ...place, part } },
  ];
}
