import type { Received } from '../conversation.ts';
import type { Wire } from '../wire.ts';
import { type CallNumbers, describeCall, describeMedia, numberCalls } from './number-calls.ts';

function describePart(part: Wire, calls: CallNumbers): string {
  if (part.thought === true) return `thought ${part.text}`;
  if (part.text !== undefined) return part.text;
  if (part.inlineData !== undefined) {
    const { mimeType, data } = part.inlineData;
    return mimeType === 'text/plain' ? `[text: ${Buffer.from(data, 'base64').toString()}]` : describeMedia(mimeType, data);
  }
  if (part.fileData !== undefined) return `[${part.fileData.fileUri}]`;
  if (part.functionCall !== undefined) {
    const { name, id, args = {} } = part.functionCall;
    return describeCall(calls.call(name, id), name, args);
  }
  if (part.functionResponse !== undefined) {
    const { name, id, response, parts = [] } = part.functionResponse;
    const media = parts.map((piece: Wire) => ` + ${describePart(piece, calls)}`).join('');
    const [only, ...others] = Object.keys(response);
    const failed = only === 'error' && others.length === 0;
    const content = others.length === 0 && (failed || only === 'result') ? response[only] : response;
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    return `${failed ? 'failed ' : ''}result ${calls.result(name, id)} ${text}${media}`;
  }
  return JSON.stringify(part);
}

function readChoice(config: Wire): string {
  if (config === undefined) return '';
  const words: Readonly<Record<string, string>> = { AUTO: 'auto', ANY: 'required', NONE: 'none', VALIDATED: 'auto' };
  const word = words[config.mode] ?? '';
  const names: readonly string[] = config.allowedFunctionNames ?? [];
  if (names.length === 0) return word;
  return word === 'required' && names.length === 1 ? `tool ${names[0]}` : `${word} of ${names.join(' ')}`;
}

function readThinking(config: Wire): string {
  if (config?.thinkingLevel !== undefined) return `effort ${config.thinkingLevel.toLowerCase()}`;
  if (config?.thinkingBudget !== undefined) return config.thinkingBudget === 0 ? 'off' : `budget ${config.thinkingBudget}`;
  return '';
}

/** Reads the request of a generate-content upstream. */
export function receiveGenerate(body: Wire): Received {
  const calls = numberCalls();
  const config = body.generationConfig ?? {};
  const tools: readonly Wire[] = body.tools ?? [];
  const functions = tools.flatMap((tool) => tool.functionDeclarations ?? []);
  const parts: readonly Wire[] = body.contents.flatMap((content: Wire) => content.parts);
  return {
    system: (body.systemInstruction?.parts ?? []).map(({ text }: Wire) => text).join('\n\n'),
    turns: body.contents.flatMap(({ role = 'user', parts: said }: Wire) =>
      said.map((part: Wire) => `${role === 'model' ? 'assistant' : 'user'}: ${describePart(part, calls)}`),
    ),
    tools: functions.map(({ name }) => name),
    schemas: Object.fromEntries(functions.map((tool) => [tool.name, tool.parametersJsonSchema ?? tool.parameters])),
    choice: readChoice(body.toolConfig?.functionCallingConfig),
    parallel: undefined,
    outputTokensMax: config.maxOutputTokens,
    temperature: config.temperature,
    topP: config.topP,
    topK: config.topK,
    seed: config.seed,
    presencePenalty: config.presencePenalty,
    frequencyPenalty: config.frequencyPenalty,
    stop: config.stopSequences ?? [],
    user: undefined,
    tier: body.serviceTier,
    thinking: readThinking(config.thinkingConfig),
    format: config.responseJsonSchema ?? config.responseSchema ?? (config.responseMimeType === 'application/json' ? 'json' : undefined),
    search: tools.some((tool) => tool.googleSearch !== undefined) ? 'search' : '',
    // The vendor's documented placeholder for foreign calls is not a proof.
    proofs: parts.flatMap((part) => part.thoughtSignature ?? []).filter((proof) => proof !== 'skip_thought_signature_validator'),
  };
}
