import { isRecord } from '../../read-json.ts';
import type { JsonRecord, PlanRequest } from '../../simulated-vendor.ts';
import type { GeminiContent, GeminiPart, GenerateContentRequest } from './generate-content-schema.ts';

/**
 * The vendor caches prompts automatically, in steps of 128 tokens from 1,024 tokens on; a token is four characters
 * here.
 */
const cacheStepCharacters = 128 * 4;
const cachedCharactersMin = 1024 * 4;

/** Converts a call into the simulator's neutral form. */
export function toPlanRequest(model: string, body: GenerateContentRequest): PlanRequest {
  const contents = body.contents ?? [];
  const all = [...(body.systemInstruction ? [body.systemInstruction] : []), ...contents];
  const promptText = all
    .map(textOfContent)
    .filter((text) => text !== '')
    .join('\n');
  const cached = promptText.length < cachedCharactersMin ? 0 : promptText.length - (promptText.length % cacheStepCharacters);
  const outputSchema = readOutputSchema(body);
  const thinking = readThinking(model, body);
  const outputTokensMax = body.generationConfig?.maxOutputTokens;
  return {
    model,
    promptText,
    lastUserText: textOfContent(contents.findLast((content) => isUser(content) && content.parts?.some((part) => part.text)) ?? {}),
    mediaCount: mediaTypes(body).length,
    ...readTools(body),
    parallelToolCalls: true,
    answersToolResult: contents.at(-1)?.parts?.some((part) => part.functionResponse !== undefined) ?? false,
    ...(outputSchema && { outputSchema }),
    stopSequences: body.generationConfig?.stopSequences ?? [],
    ...(outputTokensMax !== undefined && { outputTokensMax }),
    ...(thinking && { thinking }),
    cachedPrefixCharacters: cached,
    cacheLifetime: '5m',
    cachedTools: cached > 0,
  };
}

/** MIME types of all parts of the prompt that are not text, in order. */
export function mediaTypes(body: GenerateContentRequest): readonly string[] {
  const parts = (body.contents ?? []).flatMap((content) => content.parts ?? []);
  const nested = parts.flatMap((part): readonly Pick<GeminiPart, 'inlineData'>[] => part.functionResponse?.parts ?? []);
  return [...parts, ...nested].flatMap((part: Pick<GeminiPart, 'inlineData' | 'fileData'>) => {
    const media = part.inlineData ?? part.fileData;
    return media ? [media.mimeType ?? 'application/octet-stream'] : [];
  });
}

/** True if the reply must be one bare value of an enum instead of JSON. */
export function wantsBareEnum(body: GenerateContentRequest): boolean {
  return body.generationConfig?.responseMimeType === 'text/x.enum';
}

function isUser(content: GeminiContent): boolean {
  return content.role === undefined || content.role === 'user' || content.role === '';
}

function textOfContent(content: GeminiContent): string {
  return (content.parts ?? [])
    .map(textOfPart)
    .filter((text) => text !== '')
    .join('\n');
}

function textOfPart(part: GeminiPart): string {
  if (part.text !== undefined) return part.text;
  if (part.functionCall) return `${part.functionCall.name} ${JSON.stringify(part.functionCall.args ?? {})}`;
  if (part.functionResponse) return `${part.functionResponse.name} ${JSON.stringify(part.functionResponse.response ?? {})}`;
  if (part.executableCode) return part.executableCode.code ?? '';
  return part.codeExecutionResult?.output ?? '';
}

function readTools(body: GenerateContentRequest): Pick<PlanRequest, 'tools' | 'toolChoice'> {
  const declarations = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
  const calling = body.toolConfig?.functionCallingConfig;
  const allowed = calling?.allowedFunctionNames ?? [];
  const tools = declarations
    .filter((declaration) => allowed.length === 0 || allowed.includes(declaration.name ?? ''))
    .map((declaration) => ({
      name: declaration.name ?? '',
      schema: readSchema(declaration.parametersJsonSchema ?? declaration.parameters),
    }));
  if (calling?.mode === 'NONE') return { tools, toolChoice: 'none' };
  return { tools, toolChoice: calling?.mode === 'ANY' ? 'required' : 'auto' };
}

function readSchema(schema: unknown): JsonRecord {
  return isRecord(schema) ? schema : { type: 'object' };
}

function readOutputSchema(body: GenerateContentRequest): JsonRecord | undefined {
  const config = body.generationConfig ?? {};
  const text = config.responseFormat?.text;
  const isJson = /^(application\/json|text\/x\.enum)$/.test(config.responseMimeType ?? '') || text?.mimeType === 'APPLICATION_JSON';
  if (!isJson) return undefined;
  const schema = config.responseJsonSchema ?? config._responseJsonSchema ?? config.responseSchema ?? text?.schema;
  return isRecord(schema) ? schema : {};
}

const levelBudgets: Readonly<Record<string, number>> = { MINIMAL: 4, LOW: 8, MEDIUM: 24, HIGH: 48 };

/** Models from 2.5 on think unless the request disables it; the light ones only if it enables it. */
function readThinking(model: string, body: GenerateContentRequest): PlanRequest['thinking'] {
  const config = body.generationConfig?.thinkingConfig;
  if (config?.thinkingLevel !== undefined) return { budgetTokens: levelBudgets[config.thinkingLevel] ?? 24 };
  const budget = config?.thinkingBudget;
  if (budget === 0) return undefined;
  if (budget !== undefined && budget > 0) return { budgetTokens: budget };
  const thinks = /^gemini-(2\.5|[3-9]|\d\d)/.test(model) && !model.includes('lite');
  return thinks || config?.includeThoughts === true || budget !== undefined ? {} : undefined;
}
