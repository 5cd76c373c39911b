import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../../accounts/api-key.ts';
import type { AudioOperation } from '../../../dialects/openai-audio/audio-formats.ts';
import { readSpeechRequest } from '../../../dialects/openai-audio/speech-request.ts';
import { readTranscriptionForm } from '../../../dialects/openai-audio/transcription-form.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { enter } from '../../admission/enter.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { AudioServices } from './audio-services.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import { ClientWatch } from '../../attempts/disconnect/client-watch.ts';
import { mayCall } from '../../admission/check-caller.ts';
import { countUsedTokens, reserveCall } from '../../admission/limits/reserve-call.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { readRequest } from '../../admission/read-request.ts';
import { alwaysHealthy } from '../../attempts/routing/always-healthy.ts';
import { notAChat } from '../../attempts/routing/not-a-chat.ts';
import { rankTargets, unknownModel } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { AudioAttempts } from './audio-attempts.ts';
import { audioVoice } from './audio-voice.ts';
import type { AudioJob } from './audio-job.ts';
import { defaultAudioSettings } from '../../settings/audio-settings.ts';
import { takeAudioCredit } from './audio-credit.ts';
import { discardRest } from './discard-rest.ts';
import type { MeasureLength } from './length-of-sound.ts';
import { measureSound } from './measure-sound.ts';
import { receiveForm } from './receive-form.ts';
import { createSpeechJob } from './speech-job.ts';
import { createTranscriptionJob } from './transcription-job.ts';

/** A call whose caller is known and that was let in. */
type EnteredCall = Omit<EndpointRequest, 'client' | 'report'> & {
  readonly caller: ApiKey;
  readonly admission: Admission;
  readonly acceptedAtMs: number;
  readonly startedMs: number;
  readonly report: CallReport;
  readonly gone: AbortController;
  readonly client: ClientWatch;
};

/** Serves /v1/audio. @throws GatewayError as long as nothing was delivered */
export async function serveAudio(
  gateway: AudioServices,
  operation: AudioOperation,
  http: EndpointRequest,
  report: CallReport,
): Promise<void> {
  try {
    await serveCaller(gateway, operation, http, report);
  } finally {
    // Of what is refused the rest need not come.
    discardRest(http.request);
  }
}

async function serveCaller(gateway: AudioServices, operation: AudioOperation, http: EndpointRequest, report: CallReport): Promise<void> {
  const { response } = http;
  const { clock, deadlines } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const arrived = await enter(gateway, http, audioVoice, report);
  if (arrived === undefined) return;
  const { caller, admission } = arrived;
  const gone = new AbortController();
  const client = new ClientWatch({
    response,
    policy: caller.disconnectPolicy ?? gateway.settings().disconnect ?? 'abort',
    slots: gateway.drainSlots,
    elapsedMs: () => clock.monotonicMs() - startedMs,
    stop: () => gone.abort(new GatewayError('request_timeout', 'the client has left')),
  });
  // The end of the gateway ends the call, whatever it waits for.
  const slot = deadlines.watch({ check: () => {}, terminate: (error) => gone.abort(error) });
  try {
    const entered = { ...http, caller, admission, acceptedAtMs, startedMs, report, gone, client };
    await (operation === 'speech' ? serveSpeech(gateway, entered) : serveTranscription(gateway, operation, entered));
  } finally {
    client.end();
    deadlines.unwatch(slot);
  }
}

const headersOf = (request: IncomingMessage): Readonly<Record<string, string | undefined>> =>
  request.headers as Readonly<Record<string, string | undefined>>;

async function serveSpeech(gateway: AudioServices, call: EnteredCall): Promise<void> {
  const { request, admission } = call;
  const { limits, validation } = gateway.settings();
  const { bytes, body } = await readRequest(request, limits, (held) => admission.holdBytes(held));
  admission.holdBytes(bytes.length);
  const facts = readSpeechRequest(body, validation);
  await makeCall(gateway, call, createSpeechJob({ facts, body, bytes, headers: headersOf(request) }));
}

async function serveTranscription(gateway: AudioServices, operation: Exclude<AudioOperation, 'speech'>, call: EnteredCall): Promise<void> {
  const { request, admission, gone } = call;
  const { audio, validation } = gateway.settings();
  const { uploads: spool, mediaMeter: meter } = gateway;
  if (spool === undefined || meter === undefined) throw new GatewayError('route_not_found', 'this gateway takes no uploads');
  const { uploadBytesMax } = audio ?? defaultAudioSettings;
  const slot = await takeSlot(gateway, call);
  const form = await receiveForm({ request, signal: gone.signal, admission, spool, uploadBytesMax }).finally(slot.release);
  try {
    const facts = readTranscriptionForm(form.fields, operation === 'translations' ? 'translate' : 'transcribe', validation);
    const measure: MeasureLength = (signal) => measureSound(meter, form.file, { tenant: call.caller.userId, signal });
    await makeCall(gateway, call, createTranscriptionJob({ facts, form, headers: headersOf(request), measure }));
  } finally {
    await form.file.upload.discard();
  }
}

/**
 * Takes what an upload needs of the limits of its caller, so that nobody sends 25 MiB to be told that it was too many. It is given back when the form has come: the model and the
 * length of the text stand in it, and the call takes its share of all limits in the same moment.
 * @throws GatewayError `rate_limited` (429)
 */
async function takeSlot(gateway: AudioServices, { caller }: EnteredCall): Promise<{ readonly release: () => void }> {
  const { limiter, clock } = gateway;
  const { perKey } = gateway.settings();
  const facts = { requestedModel: '', stream: false, inputCharacters: 0, needs: [], outputTokensMax: 0 };
  const taken = await reserveCall({ limiter, clock, voice: chatDialects['openai-chat'].voice, caller, perKey, facts, model: undefined });
  return { release: () => taken?.reservation.release() };
}

/** The targets that have the route, best first. @throws GatewayError where there is none */
function chooseTargets(gateway: AudioServices, { caller, request }: EnteredCall, { operation, facts }: AudioJob): readonly Target[] {
  const { routing, retries } = gateway.settings();
  const { requestedModel } = facts;
  if (!mayCall(caller, requestedModel)) throw unknownModel(requestedModel, routing, (model) => mayCall(caller, model));
  const targets = rankTargets({
    table: routing,
    dialect: notAChat,
    facts,
    request: { operation: 'generate', body: {}, headers: headersOf(request) },
    caller,
    kind: operation === 'speech' ? 'speech' : 'transcription',
    health: retries.avoidFailing ? gateway.health : alwaysHealthy,
    nowMs: gateway.clock.monotonicMs(),
    random: gateway.random,
  }).filter(({ upstream }) => upstream.audioPaths[operation] !== undefined);
  if (targets.length > 0) return targets;
  const does = { speech: 'makes speech', transcriptions: 'transcribes speech', translations: 'translates speech' }[operation];
  throw new GatewayError('no_suitable_target', `no upstream of ${requestedModel.slice(0, 256)} ${does}`, { param: 'model' });
}

/** Routes, limits and makes the call. */
async function makeCall(gateway: AudioServices, call: EnteredCall, job: AudioJob): Promise<void> {
  const { caller, report, gone } = call;
  const settings = gateway.settings();
  report.facts = job.facts;
  const targets = chooseTargets(gateway, call, job);
  const { limiter, clock } = gateway;
  const { voice } = chatDialects['openai-chat'];
  const taken = await reserveCall({ limiter, clock, voice, caller, perKey: settings.perKey, facts: job.facts, model: targets[0]?.model });
  const limitHeaders = taken?.headers ?? {};
  let used = 0;
  let credit: CallCredit | undefined;
  try {
    credit = await takeAudioCredit(gateway, { ...call, settings, job, targets });
    const usage = await new AudioAttempts(gateway, { ...call, job, settings, limitHeaders, credit, signal: gone.signal }).run(targets);
    used = countUsedTokens(usage);
  } finally {
    // What failed is not charged, and does not count.
    taken?.reservation.settle(used);
    credit?.end();
  }
}
