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
  /** What the request says in words of this dialect alone. */
  readonly own: OwnFields;
  readonly toWireName: (name: string) => string;
  /** A function that stands in for structured output. */
  readonly answerTool?: FunctionTool;
};

/** Writes `tools` and `toolConfig`; neither where there is nothing to say. */
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
      'this vendor has no switch for it: of several calls in one reply the gateway passes on the first',
    );
  }
  const calling = declared.length === 0 ? undefined : encodeChoice(request.toolChoice, functions.length, writing);
  if (calling?.mode !== 'ANY' && request.toolChoice !== undefined && !isLenient(request.toolChoice)) {
    fit.notes.dropped('toolChoice', 'this vendor can demand the call of a function only');
  }
  return { ...(tools.length === 0 ? {} : { tools }), ...encodeToolConfig(calling, writing.own) };
}

/** Whether a choice asks for nothing that the model would not do by itself. */
function isLenient(choice: ToolChoice): boolean {
  return choice.kind === 'auto' || choice.kind === 'none' || (choice.kind === 'allowed' && !choice.required);
}

function encodeToolConfig(calling: JsonObject | undefined, own: OwnFields): JsonObject {
  const said = own.take('toolConfig.functionCallingConfig');
  // A call that is demanded stays demanded.
  const functionCallingConfig = calling?.mode === 'ANY' ? calling : { ...calling, ...said };
  const toolConfig = {
    ...(Object.keys(functionCallingConfig).length === 0 ? {} : { functionCallingConfig }),
    ...own.take('toolConfig'),
  };
  return Object.keys(toolConfig).length === 0 ? {} : { toolConfig };
}

/** The functions that the model is told of. A choice that only allows some can be said only together with the demand to call one. */
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
      `the schema of ${name} was simplified; this model does not know ${lost.join(', ')}`,
    );
  }
  return { ...head, ...(schema === undefined ? {} : { parameters: schema }) };
}

/** A tool that the vendor runs. What it has not is left out: agent programs offer such tools with every call, and an offer is no demand. */
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
      return notes.refuse(place, `the tool ${tool.name} is run by another vendor. Leave it out, or choose a model of that vendor.`);
    case 'file-search':
      return leaveOut('the files of this gateway cannot be searched by the upstream of this model');
    case 'image-generation':
      return leaveOut('the upstream of this model has no tool that makes images');
    case 'code-execution':
      return traits.codeExecution ? [{ codeExecution: {} }] : leaveOut('this model runs no code');
    case 'url-context':
      if (traits.urlContext !== true) return leaveOut('this model reads no pages');
      noteReadingOptions(tool, notes);
      return [{ urlContext: {} }];
    case 'web-search':
      return traits.webSearch ? [encodeSearch(tool, own, notes)] : leaveOut('this model does not search the web');
  }
}

/** The search as this dialect's client wrote it, or with what the vendor can be told. */
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
  notes.dropped({ path, otherwise: 'tools' }, 'the reading of pages cannot be limited here');
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
    notes.dropped({ path: tool.path, otherwise: 'tools' }, `the search of this vendor cannot be told ${lost.join(', ')}`);
}

function encodeChoice(choice: ToolChoice | undefined, functions: number, { toWireName, answerTool }: ToolWriting): JsonObject | undefined {
  // The answer is a call as well, so one must be made. A choice of the client's own stands above it.
  if (answerTool !== undefined && (functions === 0 || choice?.kind === 'none')) {
    return { mode: 'ANY', allowedFunctionNames: [toWireName(answerTool.name)] };
  }
  switch (choice?.kind) {
    case undefined:
      return answerTool === undefined ? undefined : { mode: 'ANY' };
    // This vendor cannot be told to run one of its own tools.
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
    // What is demanded is no function; an answer tool is there to be called all the same.
    default:
      return answerTool === undefined ? undefined : { mode: 'ANY' };
  }
}
