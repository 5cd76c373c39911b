import type {
  FunctionTool,
  InferenceRequest,
  OutputFormat,
  Tool,
  ToolChoice,
  UrlContextTool,
  WebSearchTool,
} from '../../../inference/inference-request.ts';
import { noteForcedChoice } from '../../../inference/note-forced-choice.ts';
import type { OwnMembers } from '../../../inference/own-fields.ts';
import { screenToolName } from '../../../inference/screen-actions.ts';
import { fitToolNames, listToolNames } from '../../../inference/tool-names.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { fitAnswerSchema, fitInputSchema, isObjectSchema } from './fit-schema.ts';
import { ownDialect } from './own-dialect.ts';

type JsonSchemaFormat = Extract<OutputFormat, { kind: 'json-schema' }>;

/** The tools of a request as they are sent, and their consequences. */
export type EncodedTools = {
  readonly tools: readonly JsonObject[];
  readonly choice: JsonObject | undefined;
  readonly toWireName: (name: string) => string;
  readonly renamed: ReadonlyMap<string, string>;
  /** The tool whose arguments are the answer, if the model does not support answer schemas. */
  readonly answerTool?: string;
};

const nameRules = { pattern: /[a-zA-Z0-9_-]/, charactersMax: 128 };

/** The vendor enforces the schemas of at most this many tools of one request. */
const strictToolsMax = 20;

/** Writes `tools` and `tool_choice`. */
export function encodeTools(request: InferenceRequest, fit: RequestFit, own: OwnMembers): EncodedTools {
  const offered = offeredTools(request);
  const { toWireName, renamed } = fitNames(request, offered);
  const keepsStrict =
    fit.traits.structuredOutput && offered.filter((tool) => tool.kind === 'function' && tool.strict).length <= strictToolsMax;
  const isOwn = request.dialect === ownDialect;
  const written = offered.flatMap((tool) => encodeTool(tool, { fit, toWireName, keepsStrict, isOwn, own }));
  const answerTool = needsAnswerTool(request, fit) ? nameAnswerTool(request, toWireName) : undefined;
  if (answerTool !== undefined && request.outputFormat?.kind === 'json-schema')
    written.push(encodeAnswerTool(request.outputFormat, answerTool));
  const tools = written.length === 0 ? describeCalledTools(request, toWireName) : written;
  const choice = encodeChoice(request, {
    fit,
    toWireName,
    answerTool,
    sent: tools,
    isOffered: written.length > 0,
    isCalled: tools.length > 0,
  });
  return { tools, choice, toWireName, renamed, ...(answerTool === undefined ? {} : { answerTool }) };
}

/** The vendor's names of the tools that it runs. */
const nativeNames: Readonly<Record<string, string | undefined>> = {
  'web-search': 'web_search',
  'code-execution': 'code_execution',
  'url-context': 'web_fetch',
};

/**
 * Fits names to the vendor's rules. Names must be unique, so the names of its own tools are reserved if they are sent.
 */
function fitNames(request: InferenceRequest, offered: readonly Tool[]): Pick<EncodedTools, 'toWireName' | 'renamed'> {
  const names = listToolNames(request);
  const { toWireName, renamed } = fitToolNames(names, nameRules);
  const reserved = new Set(
    offered.flatMap(({ kind }) => {
      const native = nativeNames[kind];
      return native === undefined ? [] : [native];
    }),
  );
  const clashes = [...names].filter((name) => reserved.has(toWireName(name)));
  if (clashes.length === 0) return { toWireName, renamed };
  const keepApart = (name: string): string => (reserved.has(toWireName(name)) ? `${toWireName(name)}_function` : toWireName(name));
  return { toWireName: keepApart, renamed: new Map([...renamed, ...clashes.map((name) => [keepApart(name), name] as const)]) };
}

/** All tools, or only the functions that the choice allows, because the vendor has no choice of several. */
function offeredTools({ tools, toolChoice }: InferenceRequest): readonly Tool[] {
  if (toolChoice?.kind !== 'allowed') return tools;
  return tools.filter((tool) => tool.kind !== 'function' || toolChoice.names.includes(tool.name));
}

type ToolWriting = {
  readonly fit: RequestFit;
  readonly toWireName: (name: string) => string;
  readonly keepsStrict: boolean;
  readonly isOwn: boolean;
  readonly own: OwnMembers;
};

function encodeTool(tool: Tool, writing: ToolWriting): readonly JsonObject[] {
  const { notes, traits } = writing.fit;
  const place = { path: tool.path, otherwise: 'tools' } as const;
  switch (tool.kind) {
    case 'function':
      return [encodeScreen(tool, writing) ?? encodeOwnTool(tool, writing) ?? encodeFunction(tool, writing)];
    case 'web-search':
      if (traits.webSearch) return [writing.isOwn && tool.wire !== undefined ? tool.wire : encodeWebSearch(tool, writing.fit)];
      notes.dropped(place, 'the upstream of this model cannot search the web');
      return [];
    case 'code-execution':
      if (traits.codeExecution)
        return [writing.isOwn && tool.wire !== undefined ? tool.wire : { type: 'code_execution_20250825', name: 'code_execution' }];
      notes.dropped(place, 'the upstream of this model cannot run code');
      return [];
    case 'url-context':
      if (traits.urlContext === true) return [writing.isOwn && tool.wire !== undefined ? tool.wire : encodeWebFetch(tool)];
      notes.dropped(place, 'the upstream of this model cannot read pages');
      return [];
    case 'file-search':
      notes.dropped(place, 'the upstream of this model cannot search files');
      return [];
    case 'image-generation':
      notes.dropped(place, 'the upstream of this model cannot make images');
      return [];
    case 'vendor':
      if (writing.isOwn) return [tool.wire];
      return notes.refuse(place, `${tool.name} is a tool of another vendor; leave it out, or choose a model of that vendor`);
  }
}

/** Writes the vendor's own tool for controlling a screen, in the version that this model supports. */
function encodeScreen({ screen, wire }: FunctionTool, { fit, isOwn }: ToolWriting): JsonObject | undefined {
  const { screenTool } = fit.traits;
  if (screen === undefined || screenTool === undefined) return undefined;
  if (isOwn && wire !== undefined) return wire;
  return { type: screenTool, name: screenToolName, display_width_px: screen.width, display_height_px: screen.height };
}

/** Writes a tool that the vendor defined and the client runs, if the client speaks this dialect too. */
function encodeOwnTool({ screen, wire }: FunctionTool, { isOwn }: ToolWriting): JsonObject | undefined {
  return isOwn && screen === undefined ? wire : undefined;
}

function encodeWebFetch({ maxUses, allowedDomains = [], blockedDomains = [] }: UrlContextTool): JsonObject {
  const allows = allowedDomains.length > 0;
  return {
    type: 'web_fetch_20250910',
    name: 'web_fetch',
    ...(maxUses === undefined ? {} : { max_uses: maxUses }),
    ...(allows ? { allowed_domains: allowedDomains } : {}),
    ...(!allows && blockedDomains.length > 0 ? { blocked_domains: blockedDomains } : {}),
  };
}

function encodeFunction(tool: FunctionTool, { fit, toWireName, keepsStrict, own }: ToolWriting): JsonObject {
  const { name, description, strict, path } = tool;
  const parameters: JsonObject = tool.parameters ?? { type: 'object', properties: {} };
  const schema = fitInputSchema(parameters);
  const place = { path, otherwise: 'tools' } as const;
  if (schema.type !== parameters.type && parameters.type !== undefined) fit.notes.adapted(place, 'arguments must be an object');
  if (parameters.anyOf !== undefined || parameters.oneOf !== undefined || parameters.allOf !== undefined) {
    fit.notes.adapted(place, 'the vendor does not support alternatives at the top of a schema; their properties were merged');
  }
  const isStrict = strict === true && keepsStrict;
  if (strict === true && !isStrict)
    fit.notes.adapted(place, 'the upstream does not guarantee that the arguments of this function match its schema');
  return {
    name: toWireName(name),
    ...(description === undefined || description === '' ? {} : { description }),
    input_schema: isStrict ? fitAnswerSchema(schema) : schema,
    ...(isStrict ? { strict: true } : {}),
    ...own.take(path),
  };
}

function encodeWebSearch(tool: WebSearchTool, { notes }: RequestFit): JsonObject {
  const { maxUses, allowedDomains = [], blockedDomains = [], userLocation, contextSize, path } = tool;
  const place = { path, otherwise: 'tools' } as const;
  const allows = allowedDomains.length > 0;
  if (allows && blockedDomains.length > 0)
    notes.dropped(place, 'the vendor accepts allowed or blocked domains, not both; the allowed ones were sent');
  if (contextSize === 'low' || contextSize === 'high') notes.dropped(place, 'the vendor has no setting for the amount of search results');
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(maxUses === undefined ? {} : { max_uses: maxUses }),
    ...(allows ? { allowed_domains: allowedDomains } : {}),
    ...(!allows && blockedDomains.length > 0 ? { blocked_domains: blockedDomains } : {}),
    ...(userLocation === undefined ? {} : { user_location: { type: 'approximate', ...userLocation } }),
  };
}

/**
 * Whether a forced tool must replace the answer's schema: the model does not support schemas, and no other tool is
 * forced.
 */
function needsAnswerTool({ outputFormat, toolChoice }: InferenceRequest, { traits, notes }: RequestFit): boolean {
  if (outputFormat?.kind !== 'json-schema' || traits.structuredOutput || !isObjectSchema(outputFormat.schema)) return false;
  if (toolChoice?.kind === 'required' || toolChoice?.kind === 'function' || toolChoice?.kind === 'built-in') return false;
  if (toolChoice?.kind === 'allowed' && toolChoice.required) return false;
  notes.emulated('outputFormat', 'this model does not support answer schemas; a tool with the schema replaces it');
  return true;
}

function nameAnswerTool(request: InferenceRequest, toWireName: (name: string) => string): string {
  const { outputFormat } = request;
  const reserved = new Set([...listToolNames(request)].map(toWireName));
  let name = toWireName(outputFormat?.kind === 'json-schema' ? (outputFormat.name ?? 'answer') : 'answer');
  while (reserved.has(name)) name = `${name.slice(0, nameRules.charactersMax - 7)}_answer`;
  return name;
}

function encodeAnswerTool({ schema, description }: JsonSchemaFormat, name: string): JsonObject {
  const purpose = 'Give the answer with this tool, once, and write nothing beside it.';
  return { name, description: description === undefined ? purpose : `${description}\n\n${purpose}`, input_schema: fitInputSchema(schema) };
}

/** Describes the tools of calls in the history, which the vendor requires even if no tool is offered any more. */
function describeCalledTools({ turns }: InferenceRequest, toWireName: (name: string) => string): readonly JsonObject[] {
  const names = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [toWireName(part.name)] : [])));
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: 'object' } }));
}

type ChoiceFacts = {
  readonly fit: RequestFit;
  readonly toWireName: (name: string) => string;
  readonly answerTool: string | undefined;
  readonly sent: readonly JsonObject[];
  readonly isOffered: boolean;
  readonly isCalled: boolean;
};

function encodeChoice(request: InferenceRequest, facts: ChoiceFacts): JsonObject | undefined {
  const { toolChoice, parallelToolCalls } = request;
  if (!facts.isOffered) {
    if (toolChoice !== undefined && toolChoice.kind !== 'none' && toolChoice.kind !== 'auto') {
      facts.fit.notes.dropped('toolChoice', 'there is no tool to choose');
    }
    return facts.isCalled ? { type: 'none' } : undefined;
  }
  if (facts.answerTool !== undefined) return encodeAnswerChoice(request, facts.answerTool);
  const choice = toolChoice === undefined ? undefined : writeChoice(toolChoice, request, facts);
  // Only `none` has no switch for parallel calls.
  if (parallelToolCalls !== false || choice?.type === 'none') return choice;
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

/** The answer is one call. If other tools may be called first, the model must call one of them or the answer. */
function encodeAnswerChoice({ tools, toolChoice }: InferenceRequest, answerTool: string): JsonObject {
  const mayCallOthers = toolChoice?.kind !== 'none' && tools.length > 0;
  return { ...(mayCallOthers ? { type: 'any' } : { type: 'tool', name: answerTool }), disable_parallel_tool_use: true };
}

/** Whether this is a tool that the vendor runs, and not a function of the client with the same name. */
const isOfVendor = ({ name, type }: JsonObject): boolean =>
  type !== undefined && Object.values(nativeNames).some((native) => native === name);

function writeChoice(choice: ToolChoice, { tools }: InferenceRequest, { fit, toWireName, sent }: ChoiceFacts): JsonObject {
  noteForcedChoice(choice, sent.some(isOfVendor), fit.notes);
  switch (choice.kind) {
    case 'auto':
    case 'none':
      return { type: choice.kind };
    case 'required':
      return { type: 'any' };
    case 'allowed':
      return { type: choice.required ? 'any' : 'auto' };
    case 'built-in': {
      const name = nativeNames[choice.tool];
      if (name !== undefined && sent.some((tool) => tool.name === name && tool.type !== undefined)) return { type: 'tool', name };
      fit.notes.dropped('toolChoice', `the upstream of this model has no tool '${choice.tool}'`);
      return { type: 'auto' };
    }
    case 'function': {
      const isKnown = tools.some((tool) => tool.kind === 'function' && tool.name === choice.name);
      if (!isKnown) fit.notes.refuse('toolChoice', `the tool '${choice.name}' is not among the tools`);
      return { type: 'tool', name: toWireName(choice.name) };
    }
  }
}
