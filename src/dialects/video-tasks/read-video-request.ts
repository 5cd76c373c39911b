import type { VideoForm, VideoInput, VideoMode, VideoRequest } from '../../inference/video.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import { locateJson } from '../../platform/json/locate-json.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { type Claim, claimFields, type ClaimedFields, type VideoField } from './field-names.ts';
import { writeTextObject } from './json-text.ts';
import {
  compatibleBounds,
  documentedBounds,
  type FieldBounds,
  readDuration,
  readFrame,
  readImages,
  readVideo,
  type VideoClaims,
} from './read-fields.ts';
import { isWebUrl } from './read-media.ts';
import { missingField, showValue, wrongValue } from './request-problem.ts';

/** A request for a video: a body that `scanJson` has accepted, and the parsed body. */
export type VideoWire = {
  readonly form: VideoForm;
  /** The action of the path: `/videos/edits` changes a video, `/videos/extensions` extends one, all others make one. */
  readonly action?: 'generate' | 'edit' | 'extend';
  readonly bytes: Buffer;
  readonly body: JsonObject;
  /** For `/videos/{id}/remix`: the task whose video is changed, and the model that applies if the body names none. */
  readonly source?: { readonly taskId: string; readonly model: string };
};

/** A client's request, and the paths of the fields that were ignored, so that the client can be notified. */
export type ReadVideo = { readonly request: VideoRequest; readonly ignored: readonly string[] };

const promptCharactersMax: Readonly<Record<VideoForm, number | undefined>> = {
  'video-generations': undefined,
  'openai-videos': 32_000,
  'xai-videos': undefined,
};
const nameCharactersMax = 256;
const callbackCharactersMax = 2048;
/** The longest video of any vendor whose form allows more than the contract: OpenAI's extensions. */
const openaiSecondsMax = 20;

/** The contract's one model. */
const documentedModel = 'vendor-imagine-video';
/** Fields of the contract (A 2.2), and the fields for callbacks, which it does not define. */
const documentedFields = new Set(['model', 'prompt', 'duration', 'images', 'image', 'metadata', 'callback_url', 'webhook_url']);

const factFields = ['duration', 'resolution', 'aspect_ratio', 'size', 'image', 'images', 'reference_images', 'video'] as const;

function readText(claims: readonly Claim[] | undefined, charactersMax: number | undefined): string | undefined {
  const [claim, second] = claims ?? [];
  if (second !== undefined) throw wrongValue(second.path, `cannot be used together with ${claim?.path ?? ''}`, 'both');
  if (claim === undefined) return undefined;
  const { path, value } = claim;
  if (typeof value !== 'string') throw wrongValue(path, 'must be a string', showValue(value));
  if (value.trim() === '') throw wrongValue(path, 'must not be empty', 'an empty string');
  if (charactersMax !== undefined && value.length > charactersMax) {
    throw wrongValue(path, `must have at most ${charactersMax} characters`, `${value.length}`);
  }
  return value;
}

function readCallback(claims: readonly Claim[] | undefined): string | undefined {
  const url = readText(claims, callbackCharactersMax);
  if (url === undefined) return undefined;
  const path = claims?.[0]?.path ?? 'callback_url';
  if (!isWebUrl(url)) throw wrongValue(path, 'must be an https: or http: address', showValue(url));
  const { username, password } = new URL(url);
  if (username !== '' || password !== '')
    throw wrongValue(path, 'must contain no user name and no password', 'an address that contains them');
  return url;
}

type Metadata = { readonly text: string; readonly fields: ClaimedFields };

const noFields: ClaimedFields = { claims: new Map(), others: [] };

function readMetadata(claims: readonly Claim[] | undefined): Metadata {
  const [claim, second] = claims ?? [];
  if (second !== undefined) throw wrongValue(second.path, `cannot be used together with ${claim?.path ?? ''}`, 'both');
  if (claim === undefined) return { text: '{}', fields: noFields };
  if (!isJsonObject(claim.value)) throw wrongValue(claim.path, 'must be an object', showValue(claim.value));
  const text = claim.text();
  const bytes = Buffer.from(text);
  return { text, fields: claimFields(bytes, { start: 0, end: bytes.length }, claim.value, `${claim.path}.`) };
}

function checkDocumented(body: JsonObject): void {
  for (const key of Object.keys(body)) {
    if (!documentedFields.has(key)) throw new GatewayError('unknown_field', `${key} is not a known field.`, { param: key });
    if (body[key] === null) throw wrongValue(key, 'must have a value or be left out', 'null');
  }
  const { image, metadata, model } = body;
  if (typeof model === 'string' && model !== documentedModel) throw wrongValue('model', `must be ${documentedModel}`, showValue(model));
  const video = isJsonObject(metadata) ? metadata.video : undefined;
  for (const [path, value] of [
    ['image', image],
    ['metadata.video', video],
  ] as const) {
    if (value !== undefined && typeof value !== 'string') throw wrongValue(path, 'must be a string', showValue(value));
  }
}

function joinClaims(top: ClaimedFields, metadata: ClaimedFields): VideoClaims {
  const claims = new Map<VideoField, readonly Claim[]>();
  for (const field of factFields) {
    const joined = [...(top.claims.get(field) ?? []), ...(metadata.claims.get(field) ?? [])];
    if (joined.length > 0) claims.set(field, joined);
  }
  return claims;
}

type VideoSettings = Pick<VideoRequest, 'mode' | 'durationSeconds' | 'images' | 'video' | 'resolution' | 'aspectRatio'>;

/** Reads the fields that define the video. Values that do not apply to the mode are checked and then left out. */
function readSettings(wire: VideoWire, claims: VideoClaims, bounds: FieldBounds): VideoSettings {
  const { action = 'generate', source } = wire;
  const duration = readDuration(claims, bounds);
  const frame = readFrame(claims, bounds);
  const images = readImages(claims);
  const sent = readVideo(claims);
  if (source !== undefined && sent !== undefined)
    throw wrongValue(pathOf(claims, 'video'), 'must be left out, because the path contains it', 'one');
  const video: VideoInput | undefined = source === undefined ? sent : { kind: 'task', taskId: source.taskId };
  if (action !== 'generate' && video === undefined) throw missingField('video');
  const seconds = duration === undefined ? {} : { durationSeconds: duration };
  if (video === undefined) return { mode: images?.mode ?? 'text', images: images?.images ?? [], ...seconds, ...frame };
  if (action === 'extend') return { mode: 'extension', images: [], video, ...seconds };
  if (wire.form === 'xai-videos' && action === 'generate') {
    throw wrongValue(pathOf(claims, 'video'), 'must be sent to /v1/videos/edits or /v1/videos/extensions', 'it here');
  }
  return { mode: 'remix', images: [], video };
}

const pathOf = (claims: VideoClaims, field: VideoField): string => claims.get(field)?.[0]?.path ?? field;

const unusedFields: Readonly<Record<VideoMode, readonly VideoField[]>> = {
  text: [],
  image: [],
  references: [],
  remix: ['duration', 'resolution', 'aspect_ratio', 'size', 'image', 'images', 'reference_images'],
  extension: ['resolution', 'aspect_ratio', 'size', 'image', 'images', 'reference_images'],
};

function listIgnored(mode: VideoMode, claims: VideoClaims): readonly string[] {
  return unusedFields[mode].flatMap((field) => claims.get(field) ?? []).map(({ path }) => path);
}

function chooseBounds(form: VideoForm, mode: ValidationMode): FieldBounds {
  if (form === 'openai-videos') return { ...compatibleBounds, secondsMax: openaiSecondsMax };
  return mode === 'documented' && form === 'video-generations' ? documentedBounds : compatibleBounds;
}

/**
 * OpenAI's clients may omit the model (the default of that interface is `sora-2`). A remix uses the model of its
 * source.
 */
const defaultModelOf = ({ form, source }: VideoWire): string | undefined =>
  source?.model ?? (form === 'openai-videos' ? 'sora-2' : undefined);

/**
 * Reads a request for a video in any of the three forms. Every spelling that some upstream could read as a field counts
 * as that field, at the top and in `metadata`, so that no value that changes the cost is forwarded unseen.
 * @throws GatewayError for the first problem; `param` is the path of the field
 */
export function readVideoRequest(wire: VideoWire, mode: ValidationMode): ReadVideo {
  const { form, bytes, body } = wire;
  if (mode === 'documented' && form === 'video-generations') checkDocumented(body);
  const root = locateJson(bytes, []) ?? { start: 0, end: bytes.length };
  const top = claimFields(bytes, root, body, '');
  const model = readText(top.claims.get('model'), nameCharactersMax) ?? defaultModelOf(wire);
  if (model === undefined) throw missingField('model');
  const prompt = readText(top.claims.get('prompt'), promptCharactersMax[form]);
  if (prompt === undefined) throw missingField('prompt');
  const metadata = readMetadata(top.claims.get('metadata'));
  const claims = joinClaims(top, metadata.fields);
  const settings = readSettings(wire, claims, chooseBounds(form, mode));
  const user = readText(top.claims.get('user'), nameCharactersMax);
  const callbackUrl = readCallback(top.claims.get('callback_url'));
  const request: VideoRequest = {
    form,
    requestedModel: model,
    prompt,
    ...settings,
    metadata: metadata.text,
    ...(user === undefined ? {} : { user }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(top.others.length === 0 ? {} : { extraFields: writeTextObject(top.others) }),
  };
  return { request, ignored: listIgnored(settings.mode, claims) };
}
