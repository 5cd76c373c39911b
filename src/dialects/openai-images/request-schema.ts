import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import type { ValidationMode } from '../dialect-id.ts';
import { createSchemaKit, nullable, orNull, type SchemaKit } from '../schema-builders.ts';

const promptCharactersMax = 32_000;
const countMax = 10;
export const sourcesMax = 16;
const partialImagesMax = 3;
/** 20 MiB, the vendor's limit for an address or a data URL. */
const urlCharactersMax = 20_971_520;
const sizePattern = '^(auto|[1-9][0-9]{1,4}x[1-9][0-9]{1,4})$';
const ratioPattern = '^(auto|[0-9]{1,3}(\\.[0-9]{1,2})?:[0-9]{1,3}(\\.[0-9]{1,2})?)$';

const integer = (minimum: number, maximum: number): TSchema => orNull(Type.Integer({ minimum, maximum }));
const oneOf = (values: readonly string[]): TSchema => Type.Optional(nullable(Type.Unsafe({ type: 'string', enum: [...values] })));

/** The fields that generations and edits share. */
function commonFields() {
  return {
    model: Type.String({ minLength: 1, maxLength: 256 }),
    prompt: Type.String({ minLength: 1, maxLength: promptCharactersMax }),
    n: integer(1, countMax),
    size: orNull(Type.String({ pattern: sizePattern })),
    quality: oneOf(['standard', 'hd', 'low', 'medium', 'high', 'auto']),
    response_format: oneOf(['url', 'b64_json']),
    output_format: oneOf(['png', 'jpeg', 'webp']),
    output_compression: integer(0, 100),
    background: oneOf(['transparent', 'opaque', 'auto']),
    moderation: oneOf(['low', 'auto']),
    stream: orNull(Type.Boolean()),
    partial_images: integer(0, partialImagesMax),
    user: Type.Optional(Type.String()),
  };
}

/** Fields of xAI's interface on the same path. */
const sharedPathFields = { aspect_ratio: orNull(Type.String({ pattern: ratioPattern })), resolution: oneOf(['1k', '2k', '4k']) };

/** An image by its address, which may be a data URL, or by its id at the vendor. */
const imageReference = Type.Object({
  image_url: Type.Optional(Type.String({ minLength: 1, maxLength: urlCharactersMax })),
  file_id: Type.Optional(Type.String({ minLength: 1 })),
});

const otherReference = Type.Object({ url: Type.String({ minLength: 1, maxLength: urlCharactersMax }), type: Type.Optional(Type.String()) });

/** The body of `/v1/images/generations`. */
export function generationSchema(mode: ValidationMode): TSchema {
  return createSchemaKit(mode).object({ ...commonFields(), style: oneOf(['vivid', 'natural']) }, sharedPathFields);
}

/**
 * The JSON body of `/v1/images/edits`. The list of images is checked separately, because vendors spell it differently.
 */
export function editSchema(mode: ValidationMode): TSchema {
  const kit = createSchemaKit(mode);
  return kit.object({ ...commonEditFields(), ...referenceFields(kit) }, sharedPathFields);
}

function referenceFields({ isCompatible }: SchemaKit): Record<string, TSchema> {
  const images = Type.Array(imageReference, { minItems: 1, maxItems: sourcesMax });
  if (!isCompatible) return { images, mask: Type.Optional(imageReference) };
  const reference = Type.Union([imageReference, otherReference]);
  return {
    images: orNull(Type.Array(reference, { minItems: 1, maxItems: sourcesMax })),
    image: orNull(reference),
    mask: orNull(imageReference),
  };
}

/** The fields of a form of `/v1/images/edits`, after numbers and flags are parsed. Its files are separate. */
export function editFormSchema(mode: ValidationMode): TSchema {
  return createSchemaKit(mode).object(commonEditFields(), sharedPathFields);
}

function commonEditFields() {
  return { ...commonFields(), input_fidelity: oneOf(['high', 'low']) };
}

/** Fields that have a place in the neutral form. All others stay as the client wrote them. */
export const knownFields: ReadonlySet<string> = new Set([
  ...Object.keys(commonEditFields()),
  ...Object.keys(sharedPathFields),
  'style',
  'image',
  'images',
  'mask',
]);
