import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { createValueSchema } from './content-schemas.ts';
import { freeObject, optional, optionalFlag, optionalText } from './common-schemas.ts';
import type { SchemaKit } from '../schema-builders.ts';

function createFunctionDeclaration(kit: SchemaKit): TSchema {
  return kit.object(
    {
      name: Type.String({ minLength: 1 }),
      description: optionalText,
      parameters: optional(createValueSchema(kit)),
    },
    {
      parametersJsonSchema: optional(Type.Unknown()),
      behavior: optionalText,
      response: optional(createValueSchema(kit)),
      responseJsonSchema: optional(Type.Unknown()),
    },
  );
}

const searchSettings = Type.Object({
  excludeDomains: optional(Type.Array(Type.String())),
  timeRangeFilter: optional(Type.Object({ startTime: optionalText, endTime: optionalText })),
  searchTypes: optional(freeObject),
});
const retrievalSettings = Type.Object({
  dynamicRetrievalConfig: optional(Type.Object({ mode: optionalText, dynamicThreshold: optional(Type.Number()) })),
});

/** One entry of `tools`. The search tools have the vendor's names here, which have already replaced the contract's. */
export function createToolSchema(kit: SchemaKit): TSchema {
  // The contract's tools for search and code are empty objects; the vendor's have members.
  const empty = optional(kit.isCompatible ? freeObject : Type.Object({}, { additionalProperties: false }));
  return kit.object(
    {
      functionDeclarations: optional(Type.Array(createFunctionDeclaration(kit))),
      codeExecution: empty,
      googleSearch: kit.isCompatible ? optional(searchSettings) : empty,
      googleSearchRetrieval: kit.isCompatible ? optional(retrievalSettings) : empty,
      // The contract mentions a URL-context tool without a name; this is the vendor's.
      urlContext: empty,
    },
    {
      googleMaps: optional(freeObject),
      fileSearch: optional(freeObject),
      computerUse: optional(freeObject),
      mcpServers: optional(Type.Array(freeObject)),
    },
  );
}

export function createToolConfigSchema(kit: SchemaKit): TSchema {
  const calling = kit.object({
    mode: optional(kit.words(['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE'], ['VALIDATED'])),
    allowedFunctionNames: optional(Type.Array(Type.String())),
  });
  const latLng = Type.Object({ latitude: optional(Type.Number()), longitude: optional(Type.Number()) });
  const retrieval = Type.Object({ latLng: optional(latLng), languageCode: optionalText });
  return kit.object(
    { functionCallingConfig: optional(calling) },
    { retrievalConfig: optional(retrieval), includeServerSideToolInvocations: optionalFlag },
  );
}

export function createSafetySettingSchema(kit: SchemaKit): TSchema {
  return kit.object({
    category: kit.words(
      [
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
      ],
      ['HARM_CATEGORY_JAILBREAK'],
    ),
    threshold: kit.words([
      'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
      'BLOCK_LOW_AND_ABOVE',
      'BLOCK_MEDIUM_AND_ABOVE',
      'BLOCK_ONLY_HIGH',
      'BLOCK_NONE',
      'OFF',
    ]),
  });
}
