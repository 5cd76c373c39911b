import type { FunctionTool, Tool, ToolChoice, VendorField } from '../../../inference/inference-request.ts';
import { itemsOf, membersOf, objectOf, objectsOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { listUnread } from '../../list-unread.ts';
import { decodeJsonSchema } from './decode-json-schema.ts';
import { decodeSchema } from './decode-schema.ts';

type DecodedTools = {
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly vendorFields: readonly VendorField[];
};

/** Reads `tools` and `toolConfig` of the canonical form. Several forms of the search tool become one. */
export function decodeTools(body: JsonObject): DecodedTools {
  const tools: Tool[] = [];
  const vendorFields: VendorField[] = [];
  for (const [index, wire] of itemsOf(body.tools).entries()) {
    if (!isJsonObject(wire)) continue;
    for (const [key, value] of Object.entries(wire)) {
      if (value !== undefined) readTool(tools, vendorFields, key, { value, path: `tools[${index}].${key}` });
    }
  }
  const config = membersOf(body.toolConfig);
  const hasBuiltIn = tools.some(({ kind }) => kind !== 'function');
  const toolChoice = decodeToolChoice(objectOf(config.functionCallingConfig), hasBuiltIn);
  vendorFields.push(...listConfigFields(config));
  return { tools, ...(toolChoice === undefined ? {} : { toolChoice }), vendorFields };
}

function listConfigFields(config: JsonObject): readonly VendorField[] {
  const { functionCallingConfig } = config;
  const path = 'toolConfig.functionCallingConfig';
  const fields = [
    ...listUnread(config, 'toolConfig', new Set(['functionCallingConfig']), new Set(['includeServerSideToolInvocations'])),
    ...listUnread(functionCallingConfig, path, new Set(['mode', 'allowedFunctionNames'])),
  ];
  // Other vendors match calls with their schemas as well as they can.
  if (membersOf(functionCallingConfig).mode === 'VALIDATED') fields.push({ field: `${path}.mode`, value: 'VALIDATED', weight: 'hint' });
  return fields;
}

type WireTool = { readonly value: JsonObject[string]; readonly path: string };

function readTool(tools: Tool[], vendorFields: VendorField[], key: string, { value, path }: WireTool): void {
  if (key === 'functionDeclarations') {
    for (const [index, declaration] of objectsOf(value).entries()) {
      tools.push(decodeFunction(declaration, `${path}[${index}]`));
      vendorFields.push(...listUnread(declaration, `${path}[${index}]`, functionMembers));
    }
  } else if (key === 'googleSearch' || key === 'googleSearchRetrieval') {
    readSearch(tools, vendorFields, membersOf(value), path);
  } else if (key === 'codeExecution') {
    tools.push({ kind: 'code-execution', path });
    vendorFields.push(...listUnread(value, path, nothing));
  } else if (key === 'urlContext') {
    tools.push({ kind: 'url-context', path });
    vendorFields.push(...listUnread(value, path, nothing));
  } else {
    tools.push({ kind: 'vendor', name: key, wire: { [key]: value }, path });
  }
}

const nothing: ReadonlySet<string> = new Set();
const functionMembers = new Set(['name', 'description', 'parameters', 'parametersJsonSchema']);

function readSearch(tools: Tool[], vendorFields: VendorField[], search: JsonObject, path: string): void {
  vendorFields.push(...listUnread(search, path, new Set(['excludeDomains'])));
  if (tools.some((tool) => tool.kind === 'web-search')) return;
  const blockedDomains = textsOf(search.excludeDomains);
  tools.push({ kind: 'web-search', ...(blockedDomains.length === 0 ? {} : { blockedDomains }), path });
}

function decodeFunction(declaration: JsonObject, path: string): FunctionTool {
  const description = textOf(declaration.description);
  const subset = objectOf(declaration.parameters);
  const jsonSchema = objectOf(declaration.parametersJsonSchema);
  const parameters = jsonSchema === undefined ? subset && decodeSchema(subset) : decodeJsonSchema(jsonSchema);
  return {
    kind: 'function',
    name: textOf(declaration.name) ?? '',
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters }),
    path,
  };
}

function decodeToolChoice(config: JsonObject | undefined, hasBuiltIn: boolean): ToolChoice | undefined {
  const mode = config?.mode;
  const names = textsOf(config?.allowedFunctionNames);
  const [only] = names;
  if (mode === 'NONE') return { kind: 'none' };
  if (mode === 'ANY') {
    if (only === undefined) return { kind: 'required', ...(hasBuiltIn && { ofFunctions: true }) };
    return names.length === 1 ? { kind: 'function', name: only } : { kind: 'allowed', names, required: true };
  }
  if (only !== undefined) return { kind: 'allowed', names, required: false };
  return mode === 'AUTO' || mode === 'VALIDATED' ? { kind: 'auto' } : undefined;
}
