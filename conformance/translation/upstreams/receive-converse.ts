import type { Received } from '../conversation.ts';
import type { Wire } from '../wire.ts';
import { type CallNumbers, describeCall, describeMedia, numberCalls } from './number-calls.ts';

/** The media types of the formats that the cases use. */
const mediaTypes: Readonly<Record<string, string>> = { png: 'image/png', pdf: 'application/pdf', mp4: 'video/mp4' };

function describeSource({ format, source }: Wire): string {
  if (format === 'txt') return `[text: ${Buffer.from(source.bytes, 'base64').toString()}]`;
  return describeMedia(mediaTypes[format] ?? format, source.bytes);
}

/** Empty for the mark of the cache. */
function describeBlock(block: Wire, calls: CallNumbers): readonly string[] {
  const { text, image, document, video, toolUse, toolResult, reasoningContent, cachePoint } = block;
  if (cachePoint !== undefined) return [];
  if (text !== undefined) return [text];
  const media = image ?? document ?? video;
  if (media !== undefined) return [describeSource(media)];
  if (toolUse !== undefined) return [describeCall(calls.call(toolUse.name, toolUse.toolUseId), toolUse.name, toolUse.input)];
  if (reasoningContent !== undefined) return [`thought ${reasoningContent.reasoningText.text}`];
  if (toolResult === undefined) return [JSON.stringify(block)];
  const parts: readonly string[] = toolResult.content.flatMap((piece: Wire) => describeBlock(piece, calls));
  const failed = toolResult.status === 'error' ? 'failed ' : '';
  return [`${failed}result ${calls.result(undefined, toolResult.toolUseId)} ${parts.join(' + ')}`];
}

function readChoice(choice: Wire): string {
  if (choice === undefined) return '';
  if (choice.tool !== undefined) return `tool ${choice.tool.name}`;
  return choice.any === undefined ? 'auto' : 'required';
}

/** Reads the request of a Converse upstream. */
export function receiveConverse(body: Wire): Received {
  const calls = numberCalls();
  const config = body.inferenceConfig ?? {};
  const fields = body.additionalModelRequestFields ?? {};
  const functions: readonly Wire[] = (body.toolConfig?.tools ?? []).flatMap((tool: Wire) => tool.toolSpec ?? []);
  const blocks: readonly Wire[] = body.messages.flatMap(({ content }: Wire) => content);
  const schema: string | undefined = body.outputConfig?.textFormat.structure.jsonSchema.schema;
  return {
    system: (body.system ?? []).flatMap(({ text }: Wire) => text ?? []).join('\n\n'),
    turns: body.messages.flatMap(({ role, content }: Wire) =>
      content.flatMap((block: Wire) => describeBlock(block, calls)).map((part: string) => `${role}: ${part}`),
    ),
    tools: functions.map(({ name }) => name),
    schemas: Object.fromEntries(functions.map(({ name, inputSchema }) => [name, inputSchema.json])),
    choice: readChoice(body.toolConfig?.toolChoice),
    parallel: undefined,
    outputTokensMax: config.maxTokens,
    temperature: config.temperature,
    topP: config.topP,
    topK: fields.inferenceConfig?.topK ?? fields.top_k,
    seed: undefined,
    presencePenalty: undefined,
    frequencyPenalty: undefined,
    stop: config.stopSequences ?? [],
    user: undefined,
    tier: body.serviceTier?.type,
    thinking: fields.reasoningConfig === undefined ? '' : `effort ${fields.reasoningConfig.maxReasoningEffort}`,
    format: schema === undefined ? undefined : JSON.parse(schema),
    search: '',
    proofs: blocks.flatMap(({ reasoningContent }) => reasoningContent?.reasoningText?.signature ?? []),
  };
}
