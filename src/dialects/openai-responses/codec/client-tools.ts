import { screenToolName } from '../../../inference/screen-actions.ts';
import { objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { isScreenType } from './screen-tool.ts';

/** A tool of this dialect that other dialects represent as a plain function. */
export type ClientTool = { readonly kind: 'function' | 'custom' | 'screen'; readonly name: string; readonly namespace?: string };

/** The parameters of the function that represents a tool with free text input. */
export const customToolParameters: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The name of a namespace's function in dialects without namespaces. */
export function joinNamespace(namespace: string | undefined, name: string): string {
  if (namespace === undefined || namespace === '') return name;
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
}

/**
 * The client's tools by the names of the functions that represent them. Calls are written back with the client's names.
 */
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

/** Writes the input of a custom tool as the arguments of a function. */
export const wrapCustomInput = (input: string): string => JSON.stringify({ input });

/**
 * The custom tool's input from a function's arguments. Arguments of another form are returned unchanged, so that
 * nothing is lost.
 */
export function unwrapCustomInput(text: string): string {
  // A reply that was cut at its limit contains half an object.
  return textOf(parseJsonObject(text)?.input) ?? text;
}
