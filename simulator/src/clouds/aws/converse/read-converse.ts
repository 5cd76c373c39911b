import { asText, isRecord, recordsOf } from '../../../read-json.ts';
import type { Json, JsonRecord, PlanRequest } from '../../../simulated-vendor.ts';
import { readOutputSchema, readSchemaText } from './check-converse.ts';
import type { ConverseModel } from './converse-models.ts';

const textOfResult = (content: Json | undefined): string =>
  recordsOf(content)
    .map((piece) => asText(piece.text) || (piece.json === undefined ? '' : JSON.stringify(piece.json)))
    .join('\n');

function textOfBlock(block: JsonRecord): string {
  const { text, toolUse, toolResult } = block;
  if (typeof text === 'string') return text;
  if (isRecord(toolUse)) return `${asText(toolUse.name)} ${JSON.stringify(toolUse.input)}`;
  return isRecord(toolResult) ? textOfResult(toolResult.content) : '';
}

const textOf = (message: JsonRecord | undefined): string =>
  recordsOf(message?.content)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');

/** Reads an accepted request into the neutral form of the simulator. */
export function readConverse(body: JsonRecord, model: ConverseModel, name: string): PlanRequest {
  const system = recordsOf(body.system);
  const messages = recordsOf(body.messages);
  const blocks = [...system, ...messages.flatMap(({ content }) => recordsOf(content))];
  const last = recordsOf(messages.at(-1)?.content);
  const config = isRecord(body.inferenceConfig) ? body.inferenceConfig : {};
  const tools = isRecord(body.toolConfig) ? recordsOf(body.toolConfig.tools) : [];
  const outputSchema = readOutputSchema(body.outputConfig) ?? findAskedSchema(system);
  const texts = blocks.map(textOfBlock);
  return {
    model: name,
    promptText: texts.join('\n'),
    lastUserText: textOf(messages.findLast((message) => message.role === 'user' && textOf(message) !== '')),
    mediaCount: blocks.filter(({ image, document, video }) => (image ?? document ?? video) !== undefined).length,
    tools: tools.flatMap(({ toolSpec }) => (isRecord(toolSpec) ? [{ name: asText(toolSpec.name), schema: schemaOf(toolSpec) }] : [])),
    toolChoice: choiceOf(body.toolConfig),
    parallelToolCalls: true,
    answersToolResult: last.some(({ toolResult }) => toolResult !== undefined),
    ...(outputSchema !== undefined && { outputSchema }),
    stopSequences: Array.isArray(config.stopSequences) ? config.stopSequences.map(asText) : [],
    ...(typeof config.maxTokens === 'number' && { outputTokensMax: config.maxTokens }),
    ...(thinks(body, model) && { thinking: {} }),
    cachedPrefixCharacters: texts.slice(0, blocks.findLastIndex(({ cachePoint }) => cachePoint !== undefined) + 1).join('\n').length,
    cacheLifetime: '5m',
  };
}

/** The schema in a system text that asks for JSON and ends with one. Models follow it, although nothing enforces it. */
function findAskedSchema(system: readonly JsonRecord[]): JsonRecord | undefined {
  for (const { text } of system) {
    const [, asked = ''] = /\bJSON\b.*\n(\{.*\})$/.exec(asText(text)) ?? [];
    const schema = asked === '' ? undefined : readSchemaText(asked);
    if (schema !== undefined) return schema;
  }
  return undefined;
}

function schemaOf({ inputSchema }: JsonRecord): JsonRecord {
  return isRecord(inputSchema) && isRecord(inputSchema.json) ? inputSchema.json : {};
}

function choiceOf(config: Json | undefined): PlanRequest['toolChoice'] {
  const choice = isRecord(config) && isRecord(config.toolChoice) ? config.toolChoice : {};
  if (isRecord(choice.tool)) return { name: asText(choice.tool.name) };
  return choice.any === undefined ? 'auto' : 'required';
}

function thinks({ additionalModelRequestFields: fields }: JsonRecord, model: ConverseModel): boolean {
  const config = isRecord(fields) && isRecord(fields.reasoningConfig) ? fields.reasoningConfig : {};
  return model.thinks === 'always' || (model.thinks === 'asked' && config.type === 'enabled');
}
