import type { FunctionTool, InferenceRequest, Tool, ToolChoice } from '../../../inference/inference-request.ts';
import { fitToolNames, listToolNames } from '../../../inference/tool-names.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import type { CachePoints } from './cache-points.ts';
import { fitInputSchema, isObjectSchema } from './fit-schema.ts';
import { traitsOf } from './traits.ts';

/** Source: ToolSpecification of the Bedrock API reference. */
const nameRules = { pattern: /[a-zA-Z0-9_-]/, charactersMax: 64 };

/** The tools of a request as they are sent, and their consequences. */
export type EncodedTools = {
  readonly members: JsonObject;
  readonly toWireName: (name: string) => string;
  readonly renamed: ReadonlyMap<string, string>;
  /** The function whose arguments are the answer, if the model does not support answer schemas. */
  readonly answerTool?: string;
  /** A sentence for the system text, for a rule that no member expresses. */
  readonly request?: string;
};

const noCalls = 'Call no function in this reply.';

/** Writes `toolConfig`, or nothing if there are no functions. */
export function encodeTools(request: InferenceRequest, fit: RequestFit, points: CachePoints): EncodedTools {
  const { notes } = fit;
  const hasHistory = request.turns.some(({ parts }) => parts.some(({ kind }) => kind === 'tool-call' || kind === 'tool-result'));
  const offered = request.tools.flatMap((tool) => functionOf(tool, fit));
  if ((offered.length > 0 || hasHistory) && traitsOf(fit.traits).tools === 'none')
    return notes.refuse('tools', 'this model calls no functions; leave the tools out, or choose a model that does');
  const chosen = chooseOffered(offered, request, fit, hasHistory);
  const answerTool = createAnswerTool(request, fit);
  const names = fitToolNames([...listToolNames(request), ...(answerTool === undefined ? [] : [answerTool.name])], nameRules);
  const specs = [...chosen, ...(answerTool === undefined ? [] : [answerTool])].flatMap((tool) => [
    encodeFunction(tool, names.toWireName, fit),
    ...points.after(tool.path, 'tools'),
  ]);
  const tools = specs.length === 0 && hasHistory ? describeCalled(request, names.toWireName) : specs;
  const base = { toWireName: names.toWireName, renamed: names.renamed };
  if (tools.length === 0) {
    if (mustCall(request.toolChoice)) notes.dropped('toolChoice', 'there is no function to choose');
    return { ...base, members: {} };
  }
  if (request.parallelToolCalls === false && specs.length > 0)
    notes.emulated(
      'parallelToolCalls',
      'this vendor has no switch for parallel calls: the gateway passes on only the first of several calls in one reply',
    );
  const choice =
    answerTool === undefined ? encodeChoice(request.toolChoice, fit, names.toWireName) : forceAnswer(answerTool, chosen, fit, names);
  const isSilenced = specs.length === 0 || request.toolChoice?.kind === 'none';
  return {
    ...base,
    members: { toolConfig: { tools, ...(choice === undefined ? {} : { toolChoice: choice }) } },
    ...(answerTool === undefined ? {} : { answerTool: names.toWireName(answerTool.name) }),
    ...(isSilenced && answerTool === undefined ? { request: noCalls } : {}),
  };
}

/** A function. Notes tools that the vendor would have to run, and refuses those of one vendor. */
function functionOf(tool: Tool, { notes }: RequestFit): readonly FunctionTool[] {
  if (tool.kind === 'function') return [tool];
  const place = { path: tool.path, otherwise: 'tools' } as const;
  if (tool.kind === 'vendor')
    notes.refuse(place, `${tool.name} is a tool of another vendor; leave it out, or choose a model of that vendor`);
  notes.dropped(place, 'the upstream of this model runs no tools of its own');
  return [];
}

/** The functions that the choice allows: there is no choice of several, and none that forbids calls. */
function chooseOffered(
  offered: readonly FunctionTool[],
  { toolChoice }: InferenceRequest,
  { traits, notes }: RequestFit,
  hasHistory: boolean,
): readonly FunctionTool[] {
  if (toolChoice?.kind === 'allowed') return offered.filter(({ name }) => toolChoice.names.includes(name));
  if (toolChoice?.kind === 'function') {
    const named = offered.filter(({ name }) => name === toolChoice.name);
    if (named.length === 0) notes.refuse('toolChoice', `the tool '${toolChoice.name}' is not among the tools`);
    const { forcedTools } = traitsOf(traits);
    return !forcedTools.includes('tool') && forcedTools.includes('any') ? named : offered;
  }
  if (toolChoice?.kind !== 'none') return offered;
  if (!hasHistory) return [];
  if (offered.length > 0) notes.emulated('toolChoice', 'this vendor has no choice that forbids calls; the prompt asks for it');
  return offered;
}

function encodeFunction(tool: FunctionTool, toWireName: (name: string) => string, { traits, notes }: RequestFit): JsonObject {
  const { name, description, strict, path } = tool;
  const parameters: JsonObject = tool.parameters ?? { type: 'object', properties: {} };
  const { schema, lost } = fitInputSchema(parameters, traits.jsonSchemaTools);
  const place = { path, otherwise: 'tools' } as const;
  if (lost.length > 0) notes.adapted(place, `this model takes type, properties and required of a schema; without ${lost.join(', ')}`);
  const isStrict = strict === true && traits.structuredOutput;
  if (strict === true && !isStrict)
    notes.adapted(place, 'the upstream does not guarantee that the arguments of this function match its schema');
  return {
    toolSpec: {
      name: toWireName(name),
      ...(description === undefined || description === '' ? {} : { description }),
      inputSchema: { json: schema },
      ...(isStrict ? { strict: true } : {}),
    },
  };
}

/** Describes the functions of calls in the history, which the vendor requires even if none is offered any more. */
function describeCalled({ turns }: InferenceRequest, toWireName: (name: string) => string): readonly JsonObject[] {
  const names = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [toWireName(part.name)] : [])));
  return [...new Set(names)].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } }));
}

const mustCall = (choice: ToolChoice | undefined): boolean =>
  choice !== undefined && choice.kind !== 'none' && choice.kind !== 'auto' && !(choice.kind === 'allowed' && !choice.required);

/** `auto` is the default, and some models refuse it in words. */
function encodeChoice(
  choice: ToolChoice | undefined,
  { traits, notes }: RequestFit,
  toWireName: (name: string) => string,
): JsonObject | undefined {
  if (choice === undefined || !mustCall(choice)) return undefined;
  const { forcedTools } = traitsOf(traits);
  if (choice.kind === 'function' && forcedTools.includes('tool')) return { tool: { name: toWireName(choice.name) } };
  if (choice.kind !== 'built-in' && forcedTools.includes('any')) return { any: {} };
  notes.dropped(
    'toolChoice',
    choice.kind === 'built-in' ? 'the upstream has no such tool' : 'this model cannot be forced to call a function',
  );
  return undefined;
}

/** Whether a function with the schema replaces it: the model has no schemas for answers, and can be forced to call. */
export function needsAnswerTool({ outputFormat }: InferenceRequest, { traits }: Pick<RequestFit, 'traits'>): boolean {
  if (outputFormat?.kind !== 'json-schema' || traits.structuredOutput) return false;
  const { tools, forcedTools } = traitsOf(traits);
  return tools !== 'none' && forcedTools.length > 0 && isObjectSchema(outputFormat.schema);
}

function createAnswerTool(request: InferenceRequest, fit: RequestFit): FunctionTool | undefined {
  const { outputFormat, tools } = request;
  if (outputFormat?.kind !== 'json-schema' || !needsAnswerTool(request, fit)) return undefined;
  fit.notes.emulated('outputFormat', 'this model does not support answer schemas; a function with the schema replaces it');
  const isTaken = (name: string): boolean => tools.some((tool) => tool.kind === 'function' && tool.name === name);
  let name = 'answer';
  while (isTaken(name)) name = `${name}_`;
  const purpose = 'Give the answer with this function, once, and write nothing beside it.';
  const description = outputFormat.description === undefined ? purpose : `${outputFormat.description}\n\n${purpose}`;
  return { kind: 'function', name, description, parameters: outputFormat.schema };
}

/** The answer is one call. If other functions may be called first, the model must call one of them or the answer. */
function forceAnswer(
  { name }: FunctionTool,
  others: readonly FunctionTool[],
  { traits }: RequestFit,
  { toWireName }: Pick<EncodedTools, 'toWireName'>,
): JsonObject {
  const { forcedTools } = traitsOf(traits);
  return others.length === 0 && forcedTools.includes('tool') ? { tool: { name: toWireName(name) } } : { any: {} };
}
