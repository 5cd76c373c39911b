import type { Usage } from '../../inference/usage.ts';
import { countOf, membersOf, objectOf, objectsOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { StreamEvent } from '../../platform/frames.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { formatSse } from '../../platform/sse/encode-sse.ts';
import type { StreamCutter } from '../chat-dialect.ts';
import { encodeUsage } from './codec/encode-usage.ts';
import { PartialOutput } from './partial-output.ts';

/** The last event repeats the whole output, so all events are stored until then and parsed only then. */
export function createEventCutter(): StreamCutter<readonly StreamEvent[]> {
  const passed: string[] = [];
  return {
    pass: ({ data }) => {
      if (data !== '') passed.push(data);
    },
    end: (usage) => endStream(passed, usage),
  };
}

export function createStreamCutter(): StreamCutter {
  const { pass, end } = createEventCutter();
  return { pass, end: (usage) => Buffer.from(end(usage).map(formatSse).join('')) };
}

/**
 * Ends the open message, and then the response as incomplete. A call with incomplete arguments is never marked as
 * completed, because clients would run it.
 */
function endStream(passed: readonly string[], usage: Usage): readonly StreamEvent[] {
  const output = new PartialOutput();
  let response: JsonObject = { object: 'response' };
  let number = -1;
  for (const data of passed) {
    const event = membersOf(parseJsonObject(data));
    number = Math.max(number, countOf(event.sequence_number) ?? -1);
    const type = textOf(event.type) ?? '';
    response = objectOf(event.response) ?? response;
    output.read(type, event);
  }
  const events: StreamEvent[] = [];
  const add = (type: string, members: JsonObject): void => {
    number += 1;
    events.push(new StreamEvent(type, JSON.stringify({ type, sequence_number: number, ...members })));
  };
  const items = output.items();
  const { openIndex } = output;
  if (openIndex !== undefined) endItem(openIndex, items.at(-1) ?? {}, add);
  add('response.incomplete', {
    response: {
      ...response,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: items,
      usage: encodeUsage(usage),
    },
  });
  return events;
}

function endItem(outputIndex: number, item: JsonObject, add: (type: string, members: JsonObject) => void): void {
  if (item.type !== 'message') return;
  const position = { output_index: outputIndex, item_id: item.id ?? null };
  for (const [contentIndex, part] of objectsOf(item.content).entries()) {
    const at = { ...position, content_index: contentIndex };
    if (part.type === 'refusal') add('response.refusal.done', { ...at, refusal: part.refusal ?? '' });
    else add('response.output_text.done', { ...at, text: part.text ?? '', logprobs: [] });
    add('response.content_part.done', { ...at, part });
  }
  add('response.output_item.done', { output_index: outputIndex, item });
}
