import type { VendorField } from '../../../inference/inference-request.ts';
import { meaningOf, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { listUnread } from '../../list-unread.ts';
import { decodeAnnotation } from './citations.ts';

/** Members that record facts about the reply of an item and mean nothing to a model. */
const records = ['id', 'status', 'phase'];
const hints = new Set(['prompt_cache_breakpoint', 'caller']);

/** The members that are read of each kind of item. Items of other kinds are kept, refused or dropped whole. */
const itemMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set(['type', 'role', 'content', ...records]),
  function_call: new Set(['type', 'call_id', 'name', 'arguments', 'namespace', ...records]),
  function_call_output: new Set(['type', 'call_id', 'output', 'name', 'namespace', ...records]),
  custom_tool_call: new Set(['type', 'call_id', 'name', 'input', 'namespace', ...records]),
  custom_tool_call_output: new Set(['type', 'call_id', 'output', ...records]),
  computer_call: new Set(['type', 'call_id', 'action', 'actions', ...records]),
  computer_call_output: new Set(['type', 'call_id', 'output', ...records]),
  reasoning: new Set(['type', 'summary', 'content', 'encrypted_content', ...records]),
};

const partMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  input_text: new Set(['type', 'text']),
  output_text: new Set(['type', 'text', 'annotations']),
  text: new Set(['type', 'text']),
  refusal: new Set(['type', 'refusal']),
  input_image: new Set(['type', 'image_url', 'file_id', 'detail']),
  input_file: new Set(['type', 'file_data', 'file_id', 'filename', 'file_url']),
  input_audio: new Set(['type', 'input_audio']),
};

/** The members of items and their parts that are not read. */
export function readItemFields(input: JsonValue | undefined): readonly VendorField[] {
  return objectsOf(input).flatMap((item, at) => {
    const path = `input[${at}]`;
    const type = textOf(item.type) ?? 'message';
    if (meaningOf(type, partMembers) !== undefined) return readPartFields({ ...item, type }, path);
    const read = meaningOf(type, itemMembers);
    if (read === undefined) return [];
    const parts = (name: string): readonly VendorField[] =>
      objectsOf(item[name]).flatMap((part, index) => readPartFields(part, `${path}.${name}[${index}]`));
    return [...listUnread(item, path, read, hints), ...parts('content'), ...parts('output')];
  });
}

function readPartFields(part: JsonObject, path: string): readonly VendorField[] {
  const read = meaningOf(part.type, partMembers);
  if (read === undefined) return [];
  // Log probabilities only record facts about the text.
  const unread = listUnread(part, path, new Set([...read, 'logprobs']), hints);
  const annotations = objectsOf(part.annotations).flatMap((annotation, at): readonly VendorField[] =>
    decodeAnnotation(annotation) === undefined ? [{ field: `${path}.annotations[${at}]`, value: annotation, weight: 'matters' }] : [],
  );
  const format = membersOf(part.input_audio);
  return [...unread, ...annotations, ...listUnread(format, `${path}.input_audio`, new Set(['data', 'format']))];
}
