import type { CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { type PlainServices, receivePlainCall, startPlainCall } from '../shared/plain-call.ts';
import { createModerationJob } from './moderation-job.ts';
import { moderationVoice } from './moderation-voice.ts';
import { readModeration } from './read-moderation.ts';

/** Serves POST /v1/moderations. Returns when the call's first attempt runs, which goes on by itself. @throws GatewayError before anything was spent */
export async function serveModerations(gateway: PlainServices, http: EndpointRequest, report: CallReport): Promise<void> {
  const call = await receivePlainCall(gateway, http, moderationVoice, report);
  if (call === undefined) return;
  const moderation = readModeration(call.body, call.settings.validation);
  await startPlainCall(gateway, call, {
    label: 'openai-moderations',
    voice: moderationVoice,
    facts: moderation.facts,
    kind: 'moderation',
    isSuitable: ({ upstream }) => upstream.moderationsPath !== undefined,
    does: 'judges content',
    bound: () => () => moderation.bounds,
    createJob: (purchase) => createModerationJob({ ...call, moderation, purchase }),
  });
}
