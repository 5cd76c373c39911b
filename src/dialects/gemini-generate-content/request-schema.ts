import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import { type KnownOperation, knownOperation } from '../known-operation.ts';
import { createContentSchema, createSystemInstructionSchema } from './content-schemas.ts';
import { createGenerationConfigSchema } from './generation-config-schema.ts';
import { createSchemaKit } from '../schema-builders.ts';
import { freeObject, optional, optionalFlag, optionalText } from './common-schemas.ts';
import { createSafetySettingSchema, createToolConfigSchema, createToolSchema } from './tool-schemas.ts';

function createGenerateSchema(mode: ValidationMode, further: Readonly<Record<string, TSchema>> = {}): TSchema {
  const kit = createSchemaKit(mode);
  return kit.object(
    {
      contents: Type.Array(createContentSchema(kit), { minItems: 1 }),
      tools: optional(Type.Array(createToolSchema(kit))),
      toolConfig: optional(createToolConfigSchema(kit)),
      safetySettings: optional(Type.Array(createSafetySettingSchema(kit))),
      systemInstruction: optional(createSystemInstructionSchema(kit)),
      generationConfig: optional(createGenerationConfigSchema(kit)),
      cachedContent: optional(Type.String({ pattern: '^cachedContents/[^/]+$' })),
      ...further,
    },
    {
      model: optionalText,
      store: optionalFlag,
      serviceTier: optional(kit.words(['unspecified'], ['standard', 'flex', 'priority'])),
      labels: optional(freeObject),
    },
  );
}

/**
 * Builds the schema of a count, which contains only turns, or a whole request. That it has exactly one of them is
 * checked elsewhere.
 */
function createCountSchema(mode: ValidationMode): TSchema {
  const kit = createSchemaKit(mode);
  return kit.object({
    contents: optional(Type.Array(createContentSchema(kit), { minItems: 1 })),
    generateContentRequest: optional(createGenerateSchema(mode, { model: optionalText })),
  });
}

const schemas: Readonly<Record<KnownOperation, Readonly<Record<ValidationMode, TSchema>>>> = {
  generate: { compatible: createGenerateSchema('compatible'), documented: createGenerateSchema('documented') },
  'count-tokens': { compatible: createCountSchema('compatible'), documented: createCountSchema('documented') },
};

/** Returns the schema of a request in its canonical form, for validation and for the interface description. */
export function requestSchema(operation: Operation, mode: ValidationMode): TSchema {
  return schemas[knownOperation(operation)][mode];
}
