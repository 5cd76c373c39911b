import type { AudioOperation } from '../../../dialects/openai-audio/audio-formats.ts';
import { readSpeechRequest } from '../../../dialects/openai-audio/speech-request.ts';
import { readTranscriptionForm } from '../../../dialects/openai-audio/transcription-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { readRequest } from '../../admission/read-request.ts';
import { defaultAudioSettings } from '../../settings/call-settings.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { describeForm } from '../shared/describe-form.ts';
import { discardRest } from '../shared/discard-rest.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { type AdmittedCall, admitCall, startPlainCall } from '../shared/plain-call.ts';
import { takeUploadSlot } from '../shared/receive-uploads.ts';
import type { UploadSpool } from '../shared/upload-spool.ts';
import { type AudioRequest, boundAudio, createAudioJob, audioRequirements } from './audio-job.ts';
import type { AudioServices } from './audio-services.ts';
import { audioVoice } from './audio-voice.ts';
import type { MeasureDuration } from './audio-duration-reader.ts';
import { measureAudio } from './measure-audio.ts';
import { type ReceivedForm, receiveForm } from './receive-form.ts';
import { createSpeechJob } from './speech-job.ts';
import { createTranscriptionJob } from './transcription-job.ts';

/** An admitted call and its request. */
type ArrivedCall = AdmittedCall & Pick<EndpointRequest, 'request' | 'target'> & { readonly admission: Admission };

/**
 * Serves /v1/audio. Returns when the first attempt runs.
 * @throws GatewayError before anything was spent
 */
export async function serveAudio(
  gateway: AudioServices,
  operation: AudioOperation,
  http: EndpointRequest,
  report: CallReport,
): Promise<void> {
  const { request, target } = http;
  try {
    const entered = await admitCall(gateway, http, audioVoice, report);
    if (entered === undefined) return;
    const call = { ...entered, request, target };
    await (operation === 'speech' ? serveSpeech(gateway, call) : serveTranscription(gateway, operation, call));
  } finally {
    // The rest of a refused body is not needed.
    discardRest(request);
  }
}

async function serveSpeech(gateway: AudioServices, { request, target, ...call }: ArrivedCall): Promise<void> {
  const { admission, settings, headers, report } = call;
  const { bytes, body } = await readRequest(request, settings.limits, (held) => admission.holdBytes(held), target.model);
  admission.holdBytes(bytes.length);
  report.recorder?.request(bytes);
  await makeCall(gateway, call, createSpeechJob({ facts: readSpeechRequest(body, settings.validation), body, bytes, headers }));
}

async function serveTranscription(
  gateway: AudioServices,
  operation: Exclude<AudioOperation, 'speech'>,
  { request, ...call }: ArrivedCall,
): Promise<void> {
  const { headers, settings, caller } = call;
  const { uploads: spool, mediaMeter: meter } = gateway;
  if (spool === undefined || meter === undefined) throw new GatewayError('route_not_found', 'this gateway accepts no uploads');
  const form = await takeForm(gateway, { request, ...call }, spool);
  const { file } = form;
  call.report.recorder?.request(describeForm(form.fields, [{ ...file, name: 'file' }]));
  try {
    const facts = readTranscriptionForm(form.fields, operation === 'translations' ? 'translate' : 'transcribe', settings.validation);
    const measure: MeasureDuration = (signal) => measureAudio(meter, file, { tenant: caller.userId, signal });
    await makeCall(gateway, call, createTranscriptionJob({ facts, form, headers, measure }));
  } catch (error) {
    await file.upload.discard();
    throw error;
  }
}

/** Receives the upload, unless its client leaves or the gateway ends. @throws GatewayError */
async function takeForm(gateway: AudioServices, call: ArrivedCall, spool: UploadSpool): Promise<ReceivedForm> {
  const { request, response, admission, caller, settings, target } = call;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (response.destroyed) gone.abort();
  const watched = gateway.deadlines.watch({ check: () => {}, terminate: (error) => gone.abort(error) });
  try {
    const { uploadBytesMax } = settings.audio ?? defaultAudioSettings;
    const slot = await takeUploadSlot(gateway, caller);
    return await receiveForm({ request, signal: gone.signal, admission, spool, uploadBytesMax, model: target.model }).finally(slot.release);
  } finally {
    gateway.deadlines.unwatch(watched);
  }
}

async function makeCall(gateway: AudioServices, call: AdmittedCall, request: AudioRequest): Promise<void> {
  const { clock } = gateway;
  await startPlainCall(gateway, call, {
    ...audioRequirements(request.operation),
    label: 'openai-audio',
    voice: audioVoice,
    facts: request.facts,
    bound: () => (target) => boundAudio(request, target),
    createJob: (purchase) => createAudioJob(request, { callId: call.callId, clock, purchase }),
  });
}
