import assert from 'node:assert/strict';

import type { Wire } from '../wire.ts';

/** Items of a response while its events arrive. */
type Building = { readonly items: Wire[]; open: number | undefined };

const isLast = /^response\.(?:completed|incomplete)$/;

function partOf(items: readonly Wire[], event: Wire): Wire {
  const item = items[event.output_index];
  assert.ok(item, `${event.type} belongs to an item`);
  assert.equal(event.item_id, item.id);
  const part = 'summary_index' in event ? item.summary[event.summary_index] : item.content?.[event.content_index];
  assert.ok(part, `${event.type} belongs to a part`);
  return part;
}

function addPart(items: readonly Wire[], event: Wire): void {
  const item = items[event.output_index];
  assert.equal(event.item_id, item.id);
  const isSummary = event.type.includes('summary');
  const parts = isSummary ? item.summary : item.content;
  assert.equal(isSummary ? event.summary_index : event.content_index, parts.length, 'parts come in order');
  parts.push(structuredClone(event.part));
}

function endItem(building: Building, event: Wire): void {
  const item = building.items[event.output_index];
  assert.equal(building.open, event.output_index, 'the item that ends is open');
  assert.equal(event.item.id, item.id, 'an item keeps its id');
  if (item.type === 'message') assert.deepEqual(event.item.content, item.content, 'the item matches its events');
  if (item.type === 'function_call') assert.equal(event.item.arguments, item.arguments);
  if (item.type === 'reasoning') assert.deepEqual(event.item.summary, item.summary);
  building.items[event.output_index] = event.item;
  building.open = undefined;
}

function beginItem(building: Building, event: Wire): void {
  assert.equal(building.open, undefined, 'one item is open at a time');
  assert.equal(event.output_index, building.items.length, 'items come in order');
  building.open = event.output_index;
  const item = structuredClone(event.item);
  if (item.type === 'message') assert.deepEqual(item.content, [], 'a message begins empty');
  if (item.type === 'function_call') assert.equal(item.arguments, '', 'a call begins without arguments');
  if (item.type === 'reasoning') assert.deepEqual(item.summary, []);
  building.items.push(item);
}

function applyEvent(building: Building, event: Wire): void {
  const { items } = building;
  switch (event.type) {
    case 'response.output_item.added':
      return beginItem(building, event);
    case 'response.output_item.done':
      return endItem(building, event);
    case 'response.content_part.added':
    case 'response.reasoning_summary_part.added':
      return addPart(items, event);
    case 'response.output_text.delta': {
      const part = partOf(items, event);
      part.text += event.delta;
      part.logprobs.push(...event.logprobs);
      return undefined;
    }
    case 'response.reasoning_summary_text.delta':
      partOf(items, event).text += event.delta;
      return undefined;
    case 'response.refusal.delta':
      partOf(items, event).refusal += event.delta;
      return undefined;
    case 'response.output_text.annotation.added': {
      const { annotations } = partOf(items, event);
      assert.equal(event.annotation_index, annotations.length);
      annotations.push(event.annotation);
      return undefined;
    }
    case 'response.output_text.done':
      assert.deepEqual(event.logprobs, partOf(items, event).logprobs);
      return assert.equal(event.text, partOf(items, event).text);
    case 'response.reasoning_summary_text.done':
      return assert.equal(event.text, partOf(items, event).text);
    case 'response.refusal.done':
      return assert.equal(event.refusal, partOf(items, event).refusal);
    case 'response.content_part.done':
    case 'response.reasoning_summary_part.done':
      return assert.deepEqual(event.part, partOf(items, event));
    case 'response.function_call_arguments.delta':
      items[event.output_index].arguments += event.delta;
      return undefined;
    case 'response.function_call_arguments.done':
      return assert.equal(event.arguments, items[event.output_index].arguments);
    case 'response.code_interpreter_call.in_progress':
    case 'response.code_interpreter_call.interpreting':
    case 'response.code_interpreter_call.completed':
    case 'response.code_interpreter_call_code.delta':
    case 'response.code_interpreter_call_code.done':
      return assert.equal(items[event.output_index].type, 'code_interpreter_call');
    case 'response.web_search_call.in_progress':
    case 'response.web_search_call.searching':
    case 'response.web_search_call.completed':
      return assert.equal(items[event.output_index].type, 'web_search_call');
    default:
      return assert.fail(`unknown event ${JSON.stringify(event)}`);
  }
}

/** Assembles a stream into its response, and fails where the official accumulators would. */
export function addUpResponse(events: readonly Wire[]): Wire {
  for (const [index, event] of events.entries()) assert.equal(event.sequence_number, index, 'events are numbered from 0');
  const [created, progress, ...rest] = events;
  assert.equal(created?.type, 'response.created');
  assert.equal(progress?.type, 'response.in_progress');
  assert.equal(created.response.status, 'in_progress');
  assert.deepEqual(created.response.output, []);
  const last = rest.pop();
  assert.match(last?.type, isLast, 'the stream ends with the response');
  const building: Building = { items: [], open: undefined };
  for (const event of rest) applyEvent(building, event);
  assert.equal(building.open, undefined, 'every item has ended');
  assert.equal(last.response.id, created.response.id, 'a response keeps its id');
  assert.equal(last.type, `response.${last.response.status}`);
  assert.deepEqual(last.response.output, building.items, 'the response matches its events');
  return last.response;
}
