import { asText, isRecord, recordsOf } from '../../../read-json.ts';
import { signReasoning } from '../../../reasoning-signature.ts';
import type { Json, JsonRecord } from '../../../simulated-vendor.ts';
import type { ConverseModel } from './converse-models.ts';

/** Refuses a request as Converse words it. */
class Invalid extends Error {}

const refuse = (message: string): never => {
  throw new Invalid(message);
};

/** Why Converse refuses a body. Undefined if it accepts it. */
export function findConverseProblem(body: JsonRecord, model: ConverseModel, streams: boolean): string | undefined {
  try {
    check(body, model, streams);
    return undefined;
  } catch (error) {
    if (error instanceof Invalid) return error.message;
    throw error;
  }
}

const bodyMembers = new Set([
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'guardrailConfig',
  'additionalModelRequestFields',
  'serviceTier',
  'outputConfig',
]);

function check(body: JsonRecord, model: ConverseModel, streams: boolean): void {
  only(body, bodyMembers, '');
  const messages = recordsOf(body.messages);
  if (!Array.isArray(body.messages) || messages.length !== body.messages.length || messages.length === 0)
    refuse("1 validation error detected: Value null at 'messages' failed to satisfy constraint: Member must not be null");
  checkSystem(body.system, model);
  checkOrder(messages);
  const names = new Set<string>();
  messages.forEach((message, index) => checkMessage(message, index, model, names));
  checkPairs(messages);
  checkTools(body, messages, model, streams);
  checkConfig(body, model);
  checkCachePoints(body, model);
  checkFormat(body.outputConfig, model);
}

/** Refuses members that are not in a list. AWS ignores some of them; none of them does anything. */
function only(value: Json | undefined, known: ReadonlySet<string>, at: string): void {
  for (const name of Object.keys(isRecord(value) ? value : {}))
    if (!known.has(name)) refuse(`#${at === '' ? '' : `/${at}`}: extraneous key [${name}] is not permitted`);
}

function checkSystem(system: Json | undefined, model: ConverseModel): void {
  if (system === undefined) return;
  if (!Array.isArray(system)) return refuse('system: expected a list');
  if (model.system === false)
    refuse("This model doesn't support system messages. Try again without a system message or use a model that supports system messages.");
  recordsOf(system).forEach((block, index) => {
    only(block, new Set(['text', 'cachePoint']), `system/${index}`);
    if ('text' in block && asText(block.text).trim() === '')
      refuse(`The text field in the SystemContentBlock object at system.${index} is blank. Add text to the text field, and try again.`);
  });
}

function checkOrder(messages: readonly JsonRecord[]): void {
  messages.forEach(({ role }, index) => {
    if (role !== 'user' && role !== 'assistant')
      refuse(
        `Value '${asText(role)}' at 'messages.${index}.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]`,
      );
    if (index > 0 && messages[index - 1]?.role === role)
      refuse(
        'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
      );
  });
  if (messages[0]?.role !== 'user')
    refuse('A conversation must start with a user message. Try again with a conversation that starts with a user message.');
  if (messages.at(-1)?.role !== 'user')
    refuse('This model does not support assistant message prefill. The conversation must end with a user message.');
}

const blockKinds = ['text', 'image', 'document', 'video', 'toolUse', 'toolResult', 'reasoningContent', 'cachePoint'];

function checkMessage(message: JsonRecord, index: number, model: ConverseModel, names: Set<string>): void {
  const at = `messages.${index}.content`;
  only(message, new Set(['role', 'content']), `messages/${index}`);
  const blocks = recordsOf(message.content);
  if (!Array.isArray(message.content) || blocks.length !== message.content.length) refuse(`${at}: expected a list of content blocks`);
  if (blocks.length === 0)
    refuse(
      `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`,
    );
  blocks.forEach((block, place) => checkBlock(block, `${at}.${place}`, { role: asText(message.role), model, names }));
  if (blocks.some(({ document }) => document !== undefined) && !blocks.some(({ text }) => text !== undefined))
    refuse(`A text block must be included when using documents at messages.${index}.`);
}

type BlockContext = { readonly role: string; readonly model: ConverseModel; readonly names: Set<string> };

function checkBlock(block: JsonRecord, at: string, context: BlockContext): void {
  const [kind = '', ...others] = Object.keys(block);
  if (others.length > 0 || !blockKinds.includes(kind))
    refuse(`Malformed input request at ${at}: a ContentBlock has one known member, got [${Object.keys(block).join(', ')}]`);
  const value = block[kind];
  if (kind === 'text' && asText(value).trim() === '')
    refuse(`The text field in the ContentBlock object at ${at} is blank. Add text to the text field, and try again.`);
  if (kind === 'image' || kind === 'document' || kind === 'video') checkMedia(kind, value, at, context);
  if (kind === 'toolUse') checkToolUse(value, at, context.role);
  if (kind === 'toolResult') checkToolResult(value, at, context);
  if (kind === 'reasoningContent') checkReasoning(value, at, context.role);
}

const formats: Readonly<Record<string, readonly string[]>> = {
  image: ['png', 'jpeg', 'gif', 'webp'],
  document: ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'],
  video: ['mkv', 'mov', 'mp4', 'webm', 'flv', 'mpeg', 'mpg', 'wmv', 'three_gp'],
};

function checkMedia(kind: 'image' | 'document' | 'video', value: Json | undefined, at: string, { role, model, names }: BlockContext): void {
  if (role !== 'user') refuse(`The ${kind} content block at ${at} is not supported in an assistant message.`);
  if (!model.media.includes(kind)) refuse(`This model doesn't support the ${kind} content block that you provided.`);
  const media = isRecord(value) ? value : {};
  only(media, new Set(['format', 'source', ...(kind === 'document' ? ['name', 'context'] : [])]), `${at}/${kind}`);
  if (formats[kind]?.includes(asText(media.format)) !== true)
    refuse(`${at}.${kind}.format: '${asText(media.format)}' is not a member of the enum`);
  const source = isRecord(media.source) ? media.source : {};
  only(source, new Set(['bytes']), `${at}/${kind}/source`);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(asText(source.bytes))) refuse(`${at}.${kind}.source.bytes: not base64`);
  if (kind !== 'document') return;
  const name = asText(media.name);
  if (!/^[A-Za-z0-9\s\-()[\]]{1,200}$/.test(name) || /\s\s/.test(name))
    refuse(
      "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
    );
  if (names.has(name)) refuse('Document names must be unique within a request.');
  names.add(name);
}

const idPattern = /^[a-zA-Z0-9_-]{1,64}$/;

function checkToolUse(value: Json | undefined, at: string, role: string): void {
  const use = isRecord(value) ? value : {};
  only(use, new Set(['toolUseId', 'name', 'input']), `${at}/toolUse`);
  if (role !== 'assistant') refuse(`The toolUse block at ${at} must be in an assistant message.`);
  if (!idPattern.test(asText(use.toolUseId)))
    refuse(
      `Value at '${at}.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
    );
  if (!idPattern.test(asText(use.name))) refuse(`Value at '${at}.toolUse.name' failed to satisfy constraint`);
  if (!isRecord(use.input))
    refuse(`The format of the value at ${at}.toolUse.input is invalid. Provide a json object for the field and try again.`);
}

function checkToolResult(value: Json | undefined, at: string, { role, model }: BlockContext): void {
  const result = isRecord(value) ? value : {};
  only(result, new Set(['toolUseId', 'content', 'status']), `${at}/toolResult`);
  if (role !== 'user') refuse(`The toolResult block at ${at} must be in a user message.`);
  if (result.status !== undefined && model.status !== true)
    refuse("This model doesn't support the status field. Remove status and try again.");
  if (result.status !== undefined && result.status !== 'error' && result.status !== 'success')
    refuse(`${at}.toolResult.status: not a member of the enum`);
  const content = recordsOf(result.content);
  if (content.length === 0) refuse(`${at}.toolResult.content: the list is empty`);
  for (const piece of content) {
    const [kind = ''] = Object.keys(piece);
    if (!['text', 'json', 'image', 'document', 'video'].includes(kind)) refuse(`${at}.toolResult.content: unknown member ${kind}`);
    if (kind === 'image' && model.status !== true) refuse("This model doesn't support images in tool results.");
  }
}

function checkReasoning(value: Json | undefined, at: string, role: string): void {
  const reasoning = isRecord(value) ? value : {};
  if (role !== 'assistant') refuse(`The reasoningContent block at ${at} must be in an assistant message.`);
  if ('redactedContent' in reasoning) return;
  const { text, signature } = isRecord(reasoning.reasoningText) ? reasoning.reasoningText : {};
  if (asText(signature) !== signReasoning(asText(text))) refuse(`${at}.reasoningContent.reasoningText: Invalid signature`);
}

const idsIn = (message: JsonRecord | undefined, kind: 'toolUse' | 'toolResult'): readonly string[] =>
  recordsOf(message?.content).flatMap((block) => {
    const value = block[kind];
    return isRecord(value) ? [asText(value.toolUseId)] : [];
  });

function checkPairs(messages: readonly JsonRecord[]): void {
  messages.forEach((message, index) => {
    const uses = idsIn(messages[index - 1], 'toolUse');
    const results = idsIn(message, 'toolResult');
    if (results.length > uses.length)
      refuse(`The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`);
    const missing = uses.filter((id) => !results.includes(id));
    if (missing.length > 0) refuse(`Expected toolResult blocks at messages.${index}.content for the following Ids: ${missing.join(', ')}`);
    const own = idsIn(message, 'toolUse');
    if (new Set(own).size < own.length) refuse(`messages.${index}.content contains duplicate Ids`);
  });
}

function checkTools(body: JsonRecord, messages: readonly JsonRecord[], model: ConverseModel, streams: boolean): void {
  const hasHistory = messages.some((message) => idsIn(message, 'toolUse').length + idsIn(message, 'toolResult').length > 0);
  const { toolConfig } = body;
  if (toolConfig === undefined) {
    if (hasHistory) refuse('The toolConfig field must be defined when using toolUse and toolResult content blocks.');
    return;
  }
  const config = isRecord(toolConfig) ? toolConfig : {};
  only(config, new Set(['tools', 'toolChoice']), 'toolConfig');
  if (model.tools === 'none') refuse("This model doesn't support tool use.");
  if (model.tools === 'whole' && streams) refuse("This model doesn't support tool use in streaming mode.");
  const tools = recordsOf(config.tools);
  if (tools.length === 0) refuse('toolConfig.tools: the list has fewer than 1 item');
  const names = tools.flatMap((tool, index) => checkTool(tool, index, model));
  if (new Set(names).size < names.length) refuse('The tool names in toolConfig must be unique.');
  checkChoice(config.toolChoice, names, model);
}

function checkTool(tool: JsonRecord, index: number, model: ConverseModel): readonly string[] {
  if ('cachePoint' in tool) return refuse('You invoked an unsupported model or your request did not allow prompt caching.');
  const spec = isRecord(tool.toolSpec) ? tool.toolSpec : refuse(`toolConfig.tools.${index}: unknown member`);
  only(spec, new Set(['name', 'description', 'inputSchema', ...(model.schemas === true ? ['strict'] : [])]), `toolConfig/tools/${index}`);
  if (!idPattern.test(asText(spec.name)))
    refuse(`Value '${asText(spec.name)}' at 'toolConfig.tools.${index}.member.toolSpec.name' failed to satisfy constraint`);
  if (spec.description === '') refuse(`toolConfig.tools.${index}.toolSpec.description: Member must have length greater than or equal to 1`);
  const schema = isRecord(spec.inputSchema) && isRecord(spec.inputSchema.json) ? spec.inputSchema.json : {};
  if (schema.type !== 'object')
    refuse(`The value at toolConfig.tools.${index}.toolSpec.inputSchema.json.type must be one of the following: object.`);
  if (model.caches === true)
    only(schema, new Set(['type', 'properties', 'required']), `toolConfig/tools/${index}/toolSpec/inputSchema/json`);
  return [asText(spec.name)];
}

function checkChoice(choice: Json | undefined, names: readonly string[], { choices }: ConverseModel): void {
  if (choice === undefined) return;
  const [kind = ''] = Object.keys(isRecord(choice) ? choice : {});
  if (!choices.includes(kind))
    refuse(`This model doesn't support the toolConfig.toolChoice.${kind} field. Remove toolConfig.toolChoice.${kind} and try again.`);
  const named = isRecord(choice) && isRecord(choice.tool) ? asText(choice.tool.name) : undefined;
  if (named !== undefined && !names.includes(named)) refuse(`The tool ${named} in toolConfig.toolChoice.tool is not in toolConfig.tools.`);
}

function checkConfig(body: JsonRecord, model: ConverseModel): void {
  const config = isRecord(body.inferenceConfig) ? body.inferenceConfig : {};
  only(config, new Set(['maxTokens', 'temperature', 'topP', 'stopSequences']), 'inferenceConfig');
  inRange(config.maxTokens, 1, Infinity, 'maxTokens');
  inRange(config.temperature, 0, 1, 'temperature');
  inRange(config.topP, 0, 1, 'topP');
  const sequences = Array.isArray(config.stopSequences) ? config.stopSequences : [];
  if (sequences.length > 0 && model.stopSequencesMax === 0)
    refuse("This model doesn't support the stopSequences field. Remove stopSequences and try again.");
  if (sequences.length > model.stopSequencesMax) refuse(`inferenceConfig.stopSequences: at most ${model.stopSequencesMax} items`);
  if (sequences.includes('')) refuse('inferenceConfig.stopSequences: Member must have length greater than or equal to 1');
  const fields = isRecord(body.additionalModelRequestFields) ? body.additionalModelRequestFields : {};
  only(fields, new Set(model.fields), 'additionalModelRequestFields');
  const own = isRecord(fields.inferenceConfig) ? fields.inferenceConfig : {};
  only(own, new Set(['topK']), 'additionalModelRequestFields/inferenceConfig');
  inRange(own.topK, 1, 128, 'topK');
  const reasoning = isRecord(fields.reasoningConfig) ? fields.reasoningConfig : {};
  if (reasoning.type === 'enabled' && !['low', 'medium', 'high'].includes(asText(reasoning.maxReasoningEffort)))
    refuse('reasoningConfig.maxReasoningEffort is required and must be one of low, medium, high.');
  if (reasoning.maxReasoningEffort === 'high' && ['maxTokens', 'temperature', 'topP'].some((name) => config[name] !== undefined))
    refuse('maxTokens, temperature and topP must be unset when maxReasoningEffort is high.');
}

function inRange(value: Json | undefined, least: number, most: number, name: string): void {
  if (value !== undefined && (typeof value !== 'number' || value < least || value > most))
    refuse(`Value at 'inferenceConfig.${name}' failed to satisfy constraint: between ${least} and ${most}`);
}

function checkCachePoints({ system, messages }: JsonRecord, { caches }: ConverseModel): void {
  const blocks = [...recordsOf(system), ...recordsOf(messages).flatMap(({ content }) => recordsOf(content))];
  const points = blocks.filter(({ cachePoint }) => cachePoint !== undefined);
  if (points.length > 0 && caches !== true)
    refuse('You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.');
  if (points.length > 4) refuse('A maximum of 4 cache points can be specified.');
  for (const { cachePoint } of points)
    if (!isRecord(cachePoint) || cachePoint.type !== 'default' || cachePoint.ttl !== undefined)
      refuse('cachePoint: only the type default without a ttl is supported by this model');
}

function checkFormat(config: Json | undefined, { schemas }: ConverseModel): void {
  if (config === undefined) return;
  if (schemas !== true) refuse("This model doesn't support the outputConfig.textFormat field.");
  if (readOutputSchema(config) === undefined)
    refuse('outputConfig.textFormat: structure.jsonSchema.schema must be a JSON schema as a text');
}

/** The schema of an answer. Undefined if there is none, or none that is JSON. */
export function readOutputSchema(config: Json | undefined): JsonRecord | undefined {
  const format = isRecord(config) ? config.textFormat : undefined;
  const structure = isRecord(format) && format.type === 'json_schema' ? format.structure : undefined;
  const definition = isRecord(structure) ? structure.jsonSchema : undefined;
  return readSchemaText(asText(isRecord(definition) ? definition.schema : undefined));
}

/** A schema that is written as a text. Undefined if it is none. */
export function readSchemaText(text: string): JsonRecord | undefined {
  try {
    const schema: unknown = JSON.parse(text);
    return isRecord(schema) ? schema : undefined;
  } catch {
    return undefined;
  }
}
