import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { compileLater } from '../../compile-later.ts';

// The vendor's messages as its API description of 2026-08 lists them, in lowerCamelCase. Every field of a proto3
// message is optional; the rules about required fields are in check-generate-content.ts. `proto` is the type's name in
// the vendor's error texts.

const typePrefix = 'type.googleapis.com/google.ai.generativelanguage.v1beta.';
const message = <P extends TProperties>(name: string, fields: P) =>
  Type.Partial(Type.Object(fields), { additionalProperties: false, proto: `${typePrefix}${name}` });
const string = () => Type.String({ proto: 'TYPE_STRING' });
const bytes = () => Type.String({ proto: 'TYPE_BYTES' });
const bool = () => Type.Boolean({ proto: 'TYPE_BOOL' });
const int32 = () => Type.Integer({ proto: 'TYPE_INT32' });
const int64 = () => Type.Integer({ proto: 'TYPE_INT64' });
const float = () => Type.Number({ proto: 'TYPE_FLOAT' });
const double = () => Type.Number({ proto: 'TYPE_DOUBLE' });
const enumeration = <const V extends string[]>(name: string, values: V) => Type.Enum(values, { proto: `${typePrefix}${name}` });
const list = <S extends TSchema>(items: S) => Type.Array(items);
/** An object with members of any name, accepted unchanged. */
const struct = () => Type.Record(Type.String(), Type.Unknown(), { proto: 'type.googleapis.com/google.protobuf.Struct', isFree: true });
const anyValue = () => Type.Unknown({ proto: 'type.googleapis.com/google.protobuf.Value' });
/** A message whose fields are not used. */
const looseMessage = (name: string) => Type.Record(Type.String(), Type.Unknown(), { proto: `${typePrefix}${name}`, isFree: true });
/** A schema, decoded by `schemaMessage`, because this notation does not support recursion. */
const schema = () => Type.Record(Type.String(), Type.Unknown(), { proto: `${typePrefix}Schema`, isSchema: true });

/** The subset of OpenAPI schemas that `parameters` and `responseSchema` accept. */
export const schemaMessage = message('Schema', {
  type: enumeration('Type', ['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']),
  format: string(),
  title: string(),
  description: string(),
  nullable: bool(),
  enum: list(string()),
  items: schema(),
  maxItems: int64(),
  minItems: int64(),
  properties: Type.Record(Type.String(), Type.Unknown(), { proto: 'map', isSchemaMap: true }),
  required: list(string()),
  minProperties: int64(),
  maxProperties: int64(),
  minimum: double(),
  maximum: double(),
  minLength: int64(),
  maxLength: int64(),
  pattern: string(),
  example: anyValue(),
  anyOf: list(schema()),
  propertyOrdering: list(string()),
  default: anyValue(),
});

const blob = message('Blob', { mimeType: string(), data: bytes(), displayName: string() });
const part = message('Part', {
  text: string(),
  inlineData: blob,
  fileData: message('FileData', { mimeType: string(), fileUri: string(), displayName: string() }),
  functionCall: message('FunctionCall', { id: string(), name: string(), args: struct() }),
  functionResponse: message('FunctionResponse', {
    id: string(),
    name: string(),
    response: struct(),
    parts: list(message('FunctionResponsePart', { inlineData: blob })),
    willContinue: bool(),
    scheduling: enumeration('FunctionResponse.Scheduling', ['SCHEDULING_UNSPECIFIED', 'SILENT', 'WHEN_IDLE', 'INTERRUPT']),
  }),
  executableCode: message('ExecutableCode', {
    id: string(),
    language: enumeration('ExecutableCode.Language', ['LANGUAGE_UNSPECIFIED', 'PYTHON']),
    code: string(),
  }),
  codeExecutionResult: message('CodeExecutionResult', {
    id: string(),
    outcome: enumeration('CodeExecutionResult.Outcome', [
      'OUTCOME_UNSPECIFIED',
      'OUTCOME_OK',
      'OUTCOME_FAILED',
      'OUTCOME_DEADLINE_EXCEEDED',
    ]),
    output: string(),
  }),
  toolCall: looseMessage('ToolCall'),
  toolResponse: looseMessage('ToolResponse'),
  thought: bool(),
  thoughtSignature: bytes(),
  videoMetadata: message('VideoMetadata', { startOffset: string(), endOffset: string(), fps: double() }),
  mediaResolution: looseMessage('MediaResolution'),
  mediaProcessing: string(),
  partMetadata: struct(),
});

const content = message('Content', { parts: list(part), role: string() });

const functionDeclaration = message('FunctionDeclaration', {
  name: string(),
  description: string(),
  parameters: schema(),
  parametersJsonSchema: anyValue(),
  response: schema(),
  responseJsonSchema: anyValue(),
  behavior: enumeration('FunctionDeclaration.Behavior', ['UNSPECIFIED', 'BLOCKING', 'NON_BLOCKING']),
});

const tool = message('Tool', {
  functionDeclarations: list(functionDeclaration),
  googleSearch: message('Tool.GoogleSearch', {
    timeRangeFilter: message('Interval', { startTime: string(), endTime: string() }),
    searchTypes: looseMessage('SearchTypes'),
    excludeDomains: list(string()),
  }),
  googleSearchRetrieval: message('GoogleSearchRetrieval', {
    dynamicRetrievalConfig: message('DynamicRetrievalConfig', {
      mode: enumeration('DynamicRetrievalConfig.Mode', ['MODE_UNSPECIFIED', 'MODE_DYNAMIC']),
      dynamicThreshold: float(),
    }),
  }),
  codeExecution: message('CodeExecution', {}),
  urlContext: message('UrlContext', {}),
  fileSearch: message('FileSearch', { fileSearchStoreNames: list(string()), topK: int32(), metadataFilter: string() }),
  googleMaps: message('GoogleMaps', { enableWidget: bool() }),
  computerUse: looseMessage('ComputerUse'),
  mcpServers: list(looseMessage('McpServer')),
});

const voiceConfig = message('VoiceConfig', { prebuiltVoiceConfig: message('PrebuiltVoiceConfig', { voiceName: string() }) });

const generationConfig = message('GenerationConfig', {
  stopSequences: list(string()),
  responseMimeType: string(),
  responseSchema: schema(),
  responseJsonSchema: anyValue(),
  _responseJsonSchema: anyValue(),
  responseFormat: message('ResponseFormatConfig', {
    text: message('TextResponseFormat', {
      mimeType: enumeration('TextResponseFormat.MimeType', ['MIME_TYPE_UNSPECIFIED', 'APPLICATION_JSON', 'TEXT_PLAIN']),
      schema: anyValue(),
    }),
    image: looseMessage('ImageResponseFormat'),
    audio: looseMessage('AudioResponseFormat'),
  }),
  responseModalities: list(enumeration('GenerationConfig.Modality', ['MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO', 'VIDEO'])),
  candidateCount: int32(),
  maxOutputTokens: int32(),
  temperature: float(),
  topP: float(),
  topK: int32(),
  seed: int32(),
  presencePenalty: float(),
  frequencyPenalty: float(),
  responseLogprobs: bool(),
  logprobs: int32(),
  enableEnhancedCivicAnswers: bool(),
  enableAffectiveDialog: bool(),
  speechConfig: message('SpeechConfig', {
    voiceConfig,
    multiSpeakerVoiceConfig: message('MultiSpeakerVoiceConfig', {
      speakerVoiceConfigs: list(message('SpeakerVoiceConfig', { speaker: string(), voiceConfig })),
    }),
    languageCode: string(),
  }),
  thinkingConfig: message('ThinkingConfig', {
    includeThoughts: bool(),
    thinkingBudget: int32(),
    thinkingLevel: enumeration('ThinkingConfig.ThinkingLevel', ['THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH']),
  }),
  imageConfig: message('ImageConfig', { aspectRatio: string(), imageSize: string() }),
  mediaResolution: enumeration('GenerationConfig.MediaResolution', [
    'MEDIA_RESOLUTION_UNSPECIFIED',
    'MEDIA_RESOLUTION_LOW',
    'MEDIA_RESOLUTION_MEDIUM',
    'MEDIA_RESOLUTION_HIGH',
  ]),
  translationConfig: looseMessage('TranslationConfig'),
  audioTranscriptionConfig: looseMessage('AudioTranscriptionConfig'),
});

/** The body of generateContent and streamGenerateContent. */
export const generateContentSchema = message('GenerateContentRequest', {
  model: string(),
  contents: list(content),
  systemInstruction: content,
  tools: list(tool),
  toolConfig: message('ToolConfig', {
    functionCallingConfig: message('FunctionCallingConfig', {
      mode: enumeration('FunctionCallingConfig.Mode', ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED']),
      allowedFunctionNames: list(string()),
    }),
    retrievalConfig: looseMessage('RetrievalConfig'),
    includeServerSideToolInvocations: bool(),
  }),
  safetySettings: list(
    message('SafetySetting', {
      category: enumeration('HarmCategory', [
        'HARM_CATEGORY_UNSPECIFIED',
        'HARM_CATEGORY_DEROGATORY',
        'HARM_CATEGORY_TOXICITY',
        'HARM_CATEGORY_VIOLENCE',
        'HARM_CATEGORY_SEXUAL',
        'HARM_CATEGORY_MEDICAL',
        'HARM_CATEGORY_DANGEROUS',
        'HARM_CATEGORY_HARASSMENT',
        'HARM_CATEGORY_HATE_SPEECH',
        'HARM_CATEGORY_SEXUALLY_EXPLICIT',
        'HARM_CATEGORY_DANGEROUS_CONTENT',
        'HARM_CATEGORY_CIVIC_INTEGRITY',
        'HARM_CATEGORY_JAILBREAK',
      ]),
      threshold: enumeration('SafetySetting.HarmBlockThreshold', [
        'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
        'BLOCK_LOW_AND_ABOVE',
        'BLOCK_MEDIUM_AND_ABOVE',
        'BLOCK_ONLY_HIGH',
        'BLOCK_NONE',
        'OFF',
      ]),
    }),
  ),
  generationConfig,
  cachedContent: string(),
  store: bool(),
  serviceTier: enumeration('ServiceTier', ['unspecified', 'standard', 'flex', 'priority']),
});

/** The body of countTokens. */
const countTokensSchema = message('CountTokensRequest', {
  contents: list(content),
  generateContentRequest: generateContentSchema,
});

export const generateContentMessage = compileLater(generateContentSchema);
export const countTokensMessage = compileLater(countTokensSchema);

export type GenerateContentRequest = Static<typeof generateContentSchema>;
export type GeminiContent = Static<typeof content>;
export type GeminiPart = Static<typeof part>;
