import { screenToolName } from '../../../inference/screen-actions.ts';
import { objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { isScreenType } from './screen-tool.ts';

/** A tool of this dialect that other dialects carry as a plain function. */
export type ClientTool = { readonly kind: 'function' | 'custom' | 'screen'; readonly name: string; readonly namespace?: string };

/** The arguments by which a tool with free text as its input is carried. */
export const customToolParameters: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The name under which a function of a namespace is carried where there are no namespaces. */
export function joinNamespace(namespace: string | undefined, name: string): string {
  if (namespace === undefined || namespace === '') return name;
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
}

/** The client's own tools by the names under which they are carried, so that calls can be said in the client's words again. */
export function readClientTools(tools: unknown): ReadonlyMap<string, ClientTool> {
  const carried = new Map<string, ClientTool>();
  const add = (tool: JsonObject, namespace?: string): void => {
    const name = textOf(tool.name);
    if (isScreenType(textOf(tool.type) ?? '')) carried.set(screenToolName, { kind: 'screen', name: screenToolName });
    if (name === undefined || (tool.type !== 'function' && tool.type !== 'custom')) return;
    const key = joinNamespace(namespace, name);
    if (!carried.has(key)) carried.set(key, { kind: tool.type, name, ...(namespace === undefined ? {} : { namespace }) });
  };
  for (const tool of objectsOf(tools)) {
    if (tool.type === 'namespace') for (const nested of objectsOf(tool.tools)) add(nested, textOf(tool.name));
    else add(tool);
  }
  return carried;
}

/** Writes a custom tool's input as the arguments of a function. */
export const wrapCustomInput = (input: string): string => JSON.stringify({ input });

/** The custom tool's input out of a function's arguments. Arguments of another shape are the input themselves: nothing is lost. */
export function unwrapCustomInput(text: string): string {
  // A reply that was cut at its limit holds half an object.
  return textOf(parseJsonObject(text)?.input) ?? text;
}
