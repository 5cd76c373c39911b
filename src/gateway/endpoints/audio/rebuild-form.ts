import type { TranscriptPlan } from '../../../dialects/openai-audio/plan-transcript.ts';
import { extensionOf, usualNames } from '../../../dialects/openai-audio/sniff-audio.ts';
import { plainFieldName, type TranscriptionFacts } from '../../../dialects/openai-audio/transcription-form.ts';
import type { MultipartPart } from '../../../platform/http/multipart-body.ts';
import type { AudioTraits } from '../../../upstreams/audio-service.ts';
import type { FormFile, ReceivedForm } from './receive-form.ts';

type Fit = {
  readonly facts: TranscriptionFacts;
  readonly plan: TranscriptPlan;
  readonly upstreamModel: string;
  readonly traits: AudioTraits;
};

/**
 * Rebuilds the form for an upstream, in the client's order of fields: with the upstream's model name, the requested
 * format, and lists as SDKs write them. Unknown fields pass unchanged.
 */
export function rebuildForm({ fields, file }: ReceivedForm, fit: Fit): readonly MultipartPart[] {
  const parts: MultipartPart[] = [];
  const written = new Set<string>();
  for (const [index, { name, value }] of fields.entries()) {
    if (index === file.place) parts.push(describeFile(file));
    const plain = plainFieldName(name);
    const fitted = fitField(plain, fit);
    if (fitted === undefined) parts.push({ name, value });
    else if (!written.has(plain)) parts.push(...fitted);
    written.add(plain);
  }
  if (file.place >= fields.length) parts.push(describeFile(file));
  if (!written.has('response_format') && fit.plan.askedFormat !== 'json') parts.push(...(fitField('response_format', fit) ?? []));
  if (fit.facts.task === 'translate' && fit.traits.translateField !== undefined)
    parts.push({ name: fit.traits.translateField, value: 'true' });
  return parts;
}

/** The replacement of a field; undefined if it passes unchanged. */
function fitField(plain: string, { plan, upstreamModel, traits }: Fit): readonly MultipartPart[] | undefined {
  switch (plain) {
    case 'model':
      return traits.modelField ? [{ name: 'model', value: upstreamModel }] : [];
    case 'response_format':
      return [{ name: 'response_format', value: plan.askedFormat }];
    case 'timestamp_granularities':
      return (plan.granularities ?? []).map((value) => ({ name: 'timestamp_granularities[]', value }));
    default:
      return undefined;
  }
}

/** Servers detect a format by the extension, so a name without one gets that of the detected format. */
function describeFile({ filename, declaredType, container, upload }: FormFile): MultipartPart {
  const { extension, type } = usualNames[container];
  return {
    name: 'file',
    filename: extensionOf(filename) === undefined ? `${filename}.${extension}` : filename,
    type: /^(?:audio|video)\//i.test(declaredType) ? declaredType : type,
    content: upload,
  };
}
