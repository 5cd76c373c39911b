import type {
  FunctionTool,
  InferenceRequest,
  Tool,
  ToolChoice,
  UrlContextTool,
  WebSearchTool,
} from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeParameters } from './encode-schema.ts';
import type { OwnFields } from './own-fields.ts';

export type ToolWriting = {
  readonly fit: RequestFit;
  /** The parts of the request that only this dialect can express. */
  readonly own: OwnFields;
  readonly toWireName: (name: string) => string;
  /** The function that replaces structured output. */
  readonly answerTool?: FunctionTool;
};

/** Writes `tools` and `toolConfig`, or neither if there are none. */
export function encodeTools(request: InferenceRequest, writing: ToolWriting): JsonObject {
  const { fit, answerTool } = writing;
  const functions = offeredFunctions(request, fit);
  const declared = [...functions, ...(answerTool === undefined ? [] : [answerTool])];
  const tools: JsonObject[] = [];
  if (declared.length > 0) tools.push({ functionDeclarations: declared.map((tool) => encodeFunction(tool, writing)) });
  for (const tool of request.tools) if (tool.kind !== 'function') tools.push(...encodeVendorTool(tool, writing));
  if (request.parallelToolCalls === false && declared.length > 0) {
    fit.notes.emulated(
      'parallelToolCalls',
      'this vendor has no switch for parallel calls: the gateway passes on only the first of several calls in one reply',
    );
  }
  const calling = declared.length === 0 ? undefined : encodeChoice(request.toolChoice, functions.length, writing);
  if (calling?.mode !== 'ANY' && request.toolChoice !== undefined && !isLenient(request.toolChoice)) {
    fit.notes.dropped('toolChoice', 'this vendor can require only the call of a function');
  }
  return { ...(tools.length === 0 ? {} : { tools }), ...encodeToolConfig(calling, writing.own) };
}

/** Whether a choice equals the model's default behaviour. */
function isLenient(choice: ToolChoice): boolean {
  return choice.kind === 'auto' || choice.kind === 'none' || (choice.kind === 'allowed' && !choice.required);
}

function encodeToolConfig(calling: JsonObject | undefined, own: OwnFields): JsonObject {
  const clientConfig = own.take('toolConfig.functionCallingConfig');
  // A required call stays required.
  const functionCallingConfig = calling?.mode === 'ANY' ? calling : { ...calling, ...clientConfig };
  const toolConfig = {
    ...(Object.keys(functionCallingConfig).length === 0 ? {} : { functionCallingConfig }),
    ...own.take('toolConfig'),
  };
  return Object.keys(toolConfig).length === 0 ? {} : { toolConfig };
}

/** The functions that the model receives. The vendor can restrict them only together with a required call. */
function offeredFunctions({ tools, toolChoice }: InferenceRequest, { notes }: RequestFit): readonly FunctionTool[] {
  const functions = tools.filter((tool): tool is FunctionTool => tool.kind === 'function');
  if (toolChoice?.kind !== 'allowed' || toolChoice.required) return functions;
  notes.adapted('toolChoice', 'only the allowed functions are sent');
  return functions.filter((tool) => toolChoice.names.includes(tool.name));
}

function encodeFunction(tool: FunctionTool, { fit, own, toWireName }: ToolWriting): JsonObject {
  const { name, description, parameters } = tool;
  const head = { name: toWireName(name), ...(description === undefined ? {} : { description }), ...own.take(tool.path) };
  if (parameters === undefined) return head;
  if (fit.traits.jsonSchemaTools) return { ...head, parametersJsonSchema: parameters };
  const { schema, lost } = encodeParameters(parameters);
  if (lost.length > 0) {
    fit.notes.adapted(
      { path: tool.path, otherwise: 'tools' },
      `the schema of ${name} was simplified; this model does not support ${lost.join(', ')}`,
    );
  }
  return { ...head, ...(schema === undefined ? {} : { parameters: schema }) };
}

/**
 * Writes a tool that the vendor runs. Tools that it lacks are left out, because agent programs offer them with every
 * call.
 */
function encodeVendorTool(tool: Exclude<Tool, FunctionTool>, { fit, own }: ToolWriting): readonly JsonObject[] {
  const { traits, notes } = fit;
  const place = { path: tool.path, otherwise: 'tools' } as const;
  const leaveOut = (reason: string): readonly JsonObject[] => {
    notes.dropped(place, reason);
    return [];
  };
  switch (tool.kind) {
    case 'vendor':
      if (own.isOwn) return [tool.wire];
      return notes.refuse(place, `another vendor runs the tool ${tool.name}. Leave it out, or choose a model of that vendor.`);
    case 'file-search':
      return leaveOut('the upstream of this model cannot search the files of this gateway');
    case 'image-generation':
      return leaveOut('the upstream of this model cannot make images');
    case 'code-execution':
      return traits.codeExecution ? [{ codeExecution: {} }] : leaveOut('the upstream of this model cannot run code');
    case 'url-context':
      if (traits.urlContext !== true) return leaveOut('the upstream of this model cannot read pages');
      noteReadingOptions(tool, notes);
      return [{ urlContext: {} }];
    case 'web-search':
      return traits.webSearch ? [encodeSearch(tool, own, notes)] : leaveOut('the upstream of this model cannot search the web');
  }
}

/** Writes the search as a client of this dialect wrote it, or with the settings that the vendor has. */
function encodeSearch(tool: WebSearchTool, own: OwnFields, notes: RequestFit['notes']): JsonObject {
  if (!own.isOwn) {
    noteSearchOptions(tool, notes);
    return { googleSearch: {} };
  }
  const isOlder = tool.path?.endsWith('.googleSearchRetrieval') === true;
  const excluded = tool.blockedDomains === undefined ? {} : { excludeDomains: tool.blockedDomains };
  return { [isOlder ? 'googleSearchRetrieval' : 'googleSearch']: { ...excluded, ...own.take(tool.path) } };
}

function noteReadingOptions({ path, maxUses, allowedDomains = [], blockedDomains = [] }: UrlContextTool, notes: RequestFit['notes']): void {
  if (maxUses === undefined && allowedDomains.length === 0 && blockedDomains.length === 0) return;
  notes.dropped({ path, otherwise: 'tools' }, 'the vendor cannot limit the reading of pages');
}

function noteSearchOptions(tool: WebSearchTool, notes: RequestFit['notes']): void {
  const options = {
    'the number of searches': tool.maxUses,
    'allowed domains': tool.allowedDomains,
    'blocked domains': tool.blockedDomains,
    "the user's location": tool.userLocation,
    'the amount of context': tool.contextSize,
  };
  const lost = Object.entries(options).flatMap(([name, value]) =>
    value === undefined || (Array.isArray(value) && value.length === 0) ? [] : [name],
  );
  if (lost.length > 0)
    notes.dropped({ path: tool.path, otherwise: 'tools' }, `the search of this vendor does not support ${lost.join(', ')}`);
}

function encodeChoice(choice: ToolChoice | undefined, functions: number, { toWireName, answerTool }: ToolWriting): JsonObject | undefined {
  // The answer is a call too, so a call is required. The client's own choice has precedence.
  if (answerTool !== undefined && (functions === 0 || choice?.kind === 'none')) {
    return { mode: 'ANY', allowedFunctionNames: [toWireName(answerTool.name)] };
  }
  switch (choice?.kind) {
    case undefined:
      return answerTool === undefined ? undefined : { mode: 'ANY' };
    // The vendor cannot be forced to use one of its own tools.
    case 'built-in':
    case 'auto':
      return { mode: answerTool === undefined ? 'AUTO' : 'ANY' };
    case 'required':
      return { mode: 'ANY' };
    case 'none':
      return { mode: 'NONE' };
    case 'function':
      return { mode: 'ANY', allowedFunctionNames: [toWireName(choice.name)] };
    case 'allowed':
      if (choice.required) return { mode: 'ANY', allowedFunctionNames: choice.names.map(toWireName) };
      return { mode: answerTool === undefined ? 'AUTO' : 'ANY' };
    // The required tool is not a function, but an answer tool must still be called.
    default:
      return answerTool === undefined ? undefined : { mode: 'ANY' };
  }
}
