import { beginReport } from '../shared/begin-report.ts';
import { type Endpoint } from '../shared/endpoint.ts';
import { carriers } from '../shared/open-api-parts.ts';
import type { PlainServices } from '../shared/plain-call.ts';
import { moderationVoice } from './moderation-voice.ts';
import { quoteModerations } from './quote-moderations.ts';
import { serveModerations } from './serve-moderations.ts';

const label = 'openai-moderations';

/** Verdicts on texts and images. */
export const moderationsEndpoint: Endpoint<PlainServices> = {
  name: 'moderations',
  routes: [
    {
      method: 'POST',
      path: '/v1/moderations',
      identifiedBy: 'body',
      quote: () => quoteModerations,
      openApi: {
        operation: () => ({
          summary: 'Judge content by the categories of a moderation policy',
          security: carriers,
          responses: { 200: { description: 'A verdict on each input, in the order of the inputs.' } },
        }),
      },
      serve: (services, http) => serveModerations(services, http, beginReport(services, http, label)),
    },
  ],
  voice: { owns: (path) => /^\/v1\/moderations(?:\/|$)/.test(path), wording: () => ({ voice: moderationVoice, label }) },
};
