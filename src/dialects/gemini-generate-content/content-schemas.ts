import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { freeObject, optional, optionalFlag, optionalText, refused } from './common-schemas.ts';
import type { SchemaKit } from '../schema-builders.ts';

const name = Type.String({ minLength: 1 });

/** Standard or URL-safe base64, padded or not. */
const base64 = Type.String({ pattern: '^[A-Za-z0-9+/_-]*={0,2}$' });

const mimeType = Type.String({ pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+*-]+( *;.*)?$' });

function createInlineData(kit: SchemaKit): TSchema {
  return kit.object({ mimeType, data: base64 }, { displayName: optionalText });
}

function createPart(kit: SchemaKit): TSchema {
  return kit.object(
    {
      text: optionalText,
      inlineData: optional(createInlineData(kit)),
      // Contract C, 4.1, rule 1.
      fileData: refused,
      functionCall: optional(kit.object({ name, args: optional(freeObject) }, { id: optionalText })),
      functionResponse: optional(
        kit.object(
          { name, response: freeObject },
          { id: optionalText, willContinue: optionalFlag, scheduling: optionalText, parts: optional(Type.Array(freeObject)) },
        ),
      ),
      executableCode: optional(
        kit.object({ language: kit.words(['LANGUAGE_UNSPECIFIED', 'PYTHON']), code: Type.String() }, { id: optionalText }),
      ),
      codeExecutionResult: optional(
        kit.object(
          {
            outcome: kit.words(['OUTCOME_UNSPECIFIED', 'OUTCOME_OK', 'OUTCOME_FAILED', 'OUTCOME_DEADLINE_EXCEEDED']),
            output: optionalText,
          },
          { id: optionalText },
        ),
      ),
    },
    {
      thought: optionalFlag,
      thoughtSignature: optional(Type.String()),
      videoMetadata: optional(Type.Object({ startOffset: optionalText, endOffset: optionalText, fps: optional(Type.Number()) })),
      mediaResolution: optional(Type.Object({ level: optionalText })),
      partMetadata: optional(freeObject),
    },
  );
}

/** One turn. An absent role is the user's. */
export function createContentSchema(kit: SchemaKit): TSchema {
  return kit.object({
    parts: Type.Array(createPart(kit), { minItems: 1 }),
    role: optional(kit.words(['user', 'model', 'function', 'tool'])),
  });
}

/** The system instruction: text only. The vendor ignores its role, and programs send `system` as well as `user`. */
export function createSystemInstructionSchema(kit: SchemaKit): TSchema {
  const media = { inlineData: refused, fileData: refused, functionCall: refused, functionResponse: refused };
  const textPart = kit.object({ text: Type.String() }, { ...media, executableCode: refused, codeExecutionResult: refused });
  return kit.object({
    parts: Type.Array(textPart, { minItems: 1 }),
    role: optional(kit.words(['user', 'model', 'function', 'tool'], ['system'])),
  });
}

const count = optional(Type.Integer({ minimum: 0 }));

/** The vendor's subset of JSON Schema, nested as deep as the body may be. */
export function createValueSchema(kit: SchemaKit): TSchema {
  const self = Type.Ref('ValueSchema');
  const type = kit.words(['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'], ['NULL']);
  const node = kit.object(
    {
      // The contract requires a type. The vendor accepts a schema that contains only `anyOf`.
      type: kit.isCompatible ? optional(type) : type,
      description: optionalText,
      enum: optional(Type.Array(Type.String())),
      example: optional(Type.Unknown()),
      nullable: optionalFlag,
      format: optionalText,
      items: optional(self),
      properties: optional(Type.Record(Type.String(), self)),
      required: optional(Type.Array(Type.String())),
      minimum: optional(Type.Number()),
      maximum: optional(Type.Number()),
      minItems: count,
      maxItems: count,
      minLength: count,
      maxLength: count,
    },
    {
      title: optionalText,
      anyOf: optional(Type.Array(self)),
      propertyOrdering: optional(Type.Array(Type.String())),
      minProperties: count,
      maxProperties: count,
      pattern: optionalText,
      default: optional(Type.Unknown()),
    },
  );
  return Type.Cyclic({ ValueSchema: node }, 'ValueSchema');
}
