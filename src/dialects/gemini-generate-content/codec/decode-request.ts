import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InferenceRequest, Part, ServiceTier, TextPart, Turn, VendorField } from '../../../inference/inference-request.ts';
import { itemsOf, meaningOf, membersOf, objectOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { WireRequest } from '../../wire-request.ts';
import { isSaid, listUnread } from '../../list-unread.ts';
import { canonicalizeRequest } from '../canonicalize-request.ts';
import { readRequestedModel } from '../read-facts.ts';
import { requestSchema } from '../request-schema.ts';
import { decodeConfig } from './decode-config.ts';
import { decodeContents } from './decode-contents.ts';
import { decodeResolution, resolutionPath } from './decode-media.ts';
import { decodeTools } from './decode-tools.ts';
import { ownDialect } from './own-fields.ts';

/** Members of the body that have a neutral name, or are not needed. */
const named: ReadonlySet<string> = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'serviceTier',
  'cachedContent',
  'model',
]);

/** `store` requests logs at the vendor, labels are for its bill. */
const hints: ReadonlySet<string> = new Set(['store', 'labels']);

const tiers: Readonly<Record<string, ServiceTier>> = { standard: 'default', flex: 'flex', priority: 'priority' };

/**
 * Reads a validated request, also inside a count.
 *
 * @throws GatewayError untranslatable_field for cached contents, several candidates, and answers that are not text
 */
export function decodeRequest(request: WireRequest): InferenceRequest {
  const { operation, pathFraming } = request;
  const canonical = canonicalizeRequest(request.body, requestSchema(operation, 'compatible'), true);
  const body = objectOf(canonical.generateContentRequest) ?? canonical;
  if (body.cachedContent !== undefined) {
    const message = 'cachedContent: this cache is stored by another vendor. Send the cached contents in the request itself.';
    throw new GatewayError('untranslatable_field', message, { param: 'cachedContent' });
  }
  const generationConfig = membersOf(body.generationConfig);
  const { vendorFields: configFields, ...config } = decodeConfig(generationConfig);
  const { vendorFields: toolFields, ...tools } = decodeTools(body);
  const detail = decodeResolution(generationConfig.mediaResolution);
  const { turns, vendorFields: contentFields } = decodeContents(body.contents, detail);
  const serviceTier = meaningOf(body.serviceTier, tiers);
  return {
    model: readRequestedModel(request),
    dialect: ownDialect,
    stream: pathFraming !== undefined,
    instructions: decodeInstructions(body.systemInstruction),
    turns,
    ...tools,
    ...config,
    ...(serviceTier === undefined ? {} : { serviceTier }),
    vendorFields: [...listBodyFields(body), ...listResolution(generationConfig, turns), ...configFields, ...toolFields, ...contentFields],
  };
}

/**
 * Lists the resolution of media, unless the images carry it: other dialects have only two levels of it, and only for
 * images.
 */
function listResolution({ mediaResolution }: JsonObject, turns: readonly Turn[]): readonly VendorField[] {
  if (!isSaid(mediaResolution) || mediaResolution === 'MEDIA_RESOLUTION_UNSPECIFIED') return [];
  const media = turns.flatMap(({ parts }) =>
    parts.flatMap((part): readonly Part[] => (part.kind === 'tool-result' ? part.content : [part])),
  );
  const isCarried = media.some((part) => part.kind === 'media' && part.detailPath !== undefined);
  return [{ field: resolutionPath, value: mediaResolution, weight: isCarried ? 'harmless' : 'matters' }];
}

function decodeInstructions(instruction: JsonValue | undefined): readonly TextPart[] {
  return itemsOf(objectOf(instruction)?.parts).flatMap((part, index): readonly TextPart[] => {
    const text = isJsonObject(part) ? textOf(part.text) : undefined;
    return text === undefined || text === '' ? [] : [{ kind: 'text', text, path: `systemInstruction.parts[${index}]` }];
  });
}

/** Thresholds that block more than the vendor's default. All other vendors have filters of their own. */
const strictThresholds: ReadonlySet<unknown> = new Set(['BLOCK_LOW_AND_ABOVE', 'BLOCK_MEDIUM_AND_ABOVE']);

function listBodyFields(body: JsonObject): readonly VendorField[] {
  const fields = [...listUnread(body, '', named, hints)];
  const { safetySettings, serviceTier } = body;
  if (isSaid(safetySettings)) {
    const isStrict = objectsOf(safetySettings).some((setting) => strictThresholds.has(setting.threshold));
    fields.push({ field: 'safetySettings', value: safetySettings, weight: isStrict ? 'matters' : 'hint' });
  }
  if (isSaid(serviceTier) && serviceTier !== 'unspecified' && meaningOf(serviceTier, tiers) === undefined) {
    fields.push({ field: 'serviceTier', value: serviceTier, weight: 'matters' });
  }
  const instructions = objectsOf(membersOf(body.systemInstruction).parts);
  return [
    ...fields,
    ...instructions.flatMap((part, at) => listUnread(part, `systemInstruction.parts[${at}]`, new Set(['text']), new Set(['partMetadata']))),
  ];
}
