import type { AudioOperation } from '../../../dialects/openai-audio/audio-formats.ts';
import { beginReport } from '../shared/begin-report.ts';
import { type Endpoint, type EndpointRoute } from '../shared/endpoint.ts';
import type { AudioServices } from './audio-services.ts';
import { audioVoice } from './audio-voice.ts';
import { audioOperation } from './open-api/audio-operations.ts';
import { audioSchemas } from './open-api/audio-schemas.ts';
import { quoteAudio } from './quote-audio.ts';
import { serveAudio } from './serve-audio.ts';

const label = 'openai-audio';

function route(operation: AudioOperation): EndpointRoute<AudioServices> {
  return {
    method: 'POST',
    path: `/v1/audio/${operation}`,
    identifiedBy: 'body',
    quote: () => (query) => quoteAudio(query, operation),
    openApi: { operation: () => audioOperation(operation) },
    serve: (services, http) => serveAudio(services, operation, http, beginReport(services, http, label)),
  };
}

/** Speech, transcription and translation. */
export const audioEndpoint: Endpoint<AudioServices> = {
  name: 'audio',
  routes: [route('speech'), route('transcriptions'), route('translations')],
  voice: { owns: (path) => /^\/v1\/audio(?:\/|$)/.test(path), wording: () => ({ voice: audioVoice, label }) },
  schemas: audioSchemas,
};
