import type { VendorError } from '../../simulated-vendor.ts';
import { refuse } from './gemini-error.ts';
import type { GeminiContent, GeminiPart, GenerateContentRequest } from './generate-content-schema.ts';
import { isThoughtSignature } from './thought-signature.ts';

const dataMembers = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const satisfies readonly (keyof GeminiPart)[];
const stopSequencesMax = 5;
const mimeTypes = ['text/plain', 'application/json', 'application/xml', 'application/yaml', 'text/x.enum'];

/** Checks the rules between the members of a decoded body. Throws the vendor's refusal. */
export function checkGenerateContent(model: string, body: GenerateContentRequest): void {
  const fault =
    checkContents(body.contents ?? [], body.systemInstruction) ??
    checkTurns(body.contents ?? []) ??
    checkSignatures(model, mergeTurns(body.contents ?? [])) ??
    checkTools(body) ??
    checkConfig(body.generationConfig ?? {}, model);
  if (fault) throw fault;
  if (body.cachedContent !== undefined) throw refuse('CachedContent not found (or permission denied)', 403);
}

/** The vendor's way to name a field that a rule forbids. */
function violates(field: string, rule: string): VendorError {
  return refuse(`* GenerateContentRequest.${field}: ${rule}\n`);
}

function checkContents(contents: readonly GeminiContent[], system: GeminiContent | undefined): VendorError | undefined {
  if (contents.length === 0) return violates('contents', 'contents is not specified');
  for (const [index, content] of contents.entries()) {
    const at = `contents[${index}]`;
    if (content.role !== undefined && !['user', 'model', 'function', 'tool', ''].includes(content.role)) {
      return refuse('Please use a valid role: user, model.');
    }
    if (!content.parts?.length) return violates(`${at}.parts`, 'contents.parts must not be empty.');
    for (const [partIndex, part] of content.parts.entries()) {
      const fault = checkPart(part, `${at}.parts[${partIndex}]`);
      if (fault) return fault;
    }
  }
  const isTextOnly = system?.parts?.every((part) => part.text !== undefined) ?? true;
  return isTextOnly ? undefined : violates('system_instruction.parts', 'only text is supported in the system instruction.');
}

function checkPart(part: GeminiPart, at: string): VendorError | undefined {
  const [first, second] = dataMembers.filter((member) => part[member] !== undefined);
  if (first === undefined) {
    // The vendor itself sends a last part with only a signature.
    return part.thoughtSignature === undefined
      ? violates(`${at}.data`, "required oneof field 'data' must have one initialized field")
      : undefined;
  }
  if (second !== undefined) {
    return refuse(`Invalid value at '${at}' (oneof), oneof field 'data' is already set. Cannot set '${second}'`);
  }
  if (part.inlineData && !part.inlineData.mimeType) return violates(`${at}.inline_data.mime_type`, 'mime type must not be empty.');
  if (part.inlineData && !part.inlineData.data) return violates(`${at}.inline_data.data`, 'data must not be empty.');
  if (part.fileData && !part.fileData.fileUri) return violates(`${at}.file_data.file_uri`, 'file uri must not be empty.');
  if (part.functionCall && !part.functionCall.name) return violates(`${at}.function_call.name`, 'Name cannot be empty.');
  if (part.functionResponse && !part.functionResponse.name) return violates(`${at}.function_response.name`, 'Name cannot be empty.');
  if (part.thoughtSignature !== undefined && !isThoughtSignature(part.thoughtSignature)) return refuse('Corrupted thought signature.');
  return undefined;
}

/** All calls must be answered in the next turn, and only calls may be answered. */
function checkTurns(contents: readonly GeminiContent[]): VendorError | undefined {
  let openCalls = 0;
  let previous: GeminiContent | undefined;
  for (const content of mergeTurns(contents)) {
    const calls = count(content, 'functionCall');
    const responses = count(content, 'functionResponse');
    if (calls > 0 && (previous === undefined || previous.role === 'model')) {
      return refuse('Please ensure that function call turn comes immediately after a user turn or after a function response turn.');
    }
    if (responses > 0 && openCalls === 0) {
      return refuse('Please ensure that function response turn comes immediately after a function call turn.');
    }
    if (responses !== openCalls) {
      return refuse(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
    }
    openCalls = calls;
    previous = content;
  }
  return undefined;
}

/**
 * Some clients send each function response as a turn of its own, and the vendor's own SDK returns every piece of a
 * streamed answer as one. The vendor reads them as one turn.
 */
function mergeTurns(contents: readonly GeminiContent[]): readonly GeminiContent[] {
  const merged: GeminiContent[] = [];
  for (const content of contents) {
    const last = merged.at(-1);
    const isAnswer = last && count(last, 'functionResponse') > 0 && count(content, 'functionResponse') > 0;
    const isContinued = last && last.role === content.role && (isAnswer || content.role === 'model');
    if (isContinued) merged[merged.length - 1] = { ...last, parts: [...(last.parts ?? []), ...(content.parts ?? [])] };
    else merged.push(content);
  }
  return merged;
}

/** Models of the third generation require the signature of the first call of each step of the current turn. */
function checkSignatures(model: string, contents: readonly GeminiContent[]): VendorError | undefined {
  if (!signsThoughts(model)) return undefined;
  const turnStart = contents.findLastIndex((content) => content.role !== 'model' && count(content, 'functionResponse') === 0);
  for (const [index, content] of contents.entries()) {
    const position = content.parts?.findIndex((part) => part.functionCall !== undefined) ?? -1;
    const call = content.parts?.[position];
    if (index < turnStart || !call || call.thoughtSignature !== undefined) continue;
    return refuse(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call.functionCall?.name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    );
  }
  return undefined;
}

/** True for models that sign their thoughts whether or not they are shown. */
export function signsThoughts(model: string): boolean {
  return /^gemini-([3-9]|\d\d)/.test(model);
}

function checkTools(body: GenerateContentRequest): VendorError | undefined {
  const names = new Set<string>();
  for (const [index, tool] of (body.tools ?? []).entries()) {
    for (const [at, declaration] of (tool.functionDeclarations ?? []).entries()) {
      const path = `tools[${index}].function_declarations[${at}]`;
      const name = declaration.name ?? '';
      if (!/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(name)) {
        return violates(
          `${path}.name`,
          'Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.',
        );
      }
      if (names.has(name)) return refuse(`Duplicate function declaration found: ${name}`);
      names.add(name);
      if (declaration.parameters && declaration.parametersJsonSchema) {
        return violates(path, 'only one of parameters and parameters_json_schema may be set.');
      }
    }
  }
  const calling = body.toolConfig?.functionCallingConfig;
  if (calling?.mode === 'ANY' && names.size === 0) return refuse('Function calling config is set without function_declarations.');
  const allowed = calling?.allowedFunctionNames ?? [];
  if (allowed.length > 0 && calling?.mode !== 'ANY' && calling?.mode !== 'VALIDATED') {
    return refuse('allowed_function_names should only be set when function_calling_config.mode is ANY or VALIDATED.');
  }
  const unknown = allowed.find((name) => !names.has(name));
  return unknown === undefined ? undefined : refuse(`allowed_function_names contains a function that is not declared: ${unknown}`);
}

function checkConfig(config: NonNullable<GenerateContentRequest['generationConfig']>, model: string): VendorError | undefined {
  const at = (field: string, rule: string): VendorError => violates(`generation_config.${field}`, rule);
  const { temperature, topP, topK, maxOutputTokens, stopSequences, responseMimeType, candidateCount, thinkingConfig } = config;
  if (temperature !== undefined && (temperature < 0 || temperature > 2))
    return at('temperature', 'temperature must be in the range [0.0, 2.0].');
  if (topP !== undefined && (topP < 0 || topP > 1)) return at('top_p', 'top_p must be in the range [0.0, 1.0].');
  if (topK !== undefined && topK <= 0) return at('top_k', 'top_k must be positive.');
  if (maxOutputTokens !== undefined && maxOutputTokens <= 0) return at('max_output_tokens', 'max_output_tokens must be positive.');
  if (candidateCount !== undefined && candidateCount > 1) return refuse(`Multiple candidates is not enabled for models/${model}`);
  if (stopSequences !== undefined && stopSequences.length > stopSequencesMax) {
    return at('stop_sequences', `the number of stop sequences must not exceed ${stopSequencesMax}.`);
  }
  if (stopSequences?.includes('')) return at('stop_sequences', 'stop sequences must not be empty.');
  if (responseMimeType !== undefined && responseMimeType !== '' && !mimeTypes.includes(responseMimeType)) {
    return at('response_mime_type', `allowed mimetypes are ${mimeTypes.map((type) => `\`${type}\``).join(', ')}.`);
  }
  const hasSchema =
    config.responseSchema !== undefined || config.responseJsonSchema !== undefined || config._responseJsonSchema !== undefined;
  if (hasSchema && (responseMimeType === undefined || responseMimeType === '' || responseMimeType === 'text/plain')) {
    return refuse("Response schema with a response mime type: 'text/plain' is unsupported");
  }
  if (thinkingConfig?.thinkingBudget !== undefined && thinkingConfig.thinkingLevel !== undefined) {
    return refuse('You can only set one of thinking budget and thinking level.');
  }
  if (thinkingConfig?.thinkingBudget !== undefined && thinkingConfig.thinkingBudget < -1) {
    return at('thinking_config.thinking_budget', 'thinking_budget must be -1, 0 or positive.');
  }
  return undefined;
}

function count(content: GeminiContent, member: 'functionCall' | 'functionResponse'): number {
  return content.parts?.filter((part) => part[member] !== undefined).length ?? 0;
}
