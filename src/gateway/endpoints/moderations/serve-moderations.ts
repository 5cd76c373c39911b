import type { CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { type PlainServices, receivePlainCall, startPlainCall } from '../shared/plain-call.ts';
import { boundsOfJudgement, createJudgeJob, factsOfJudgement } from './judge-job.ts';
import { createModerationJob } from './moderation-job.ts';
import { moderationVoice } from './moderation-voice.ts';
import { readModeration } from './read-moderation.ts';
import { findStandIn } from './stand-in.ts';

/**
 * Serves POST /v1/moderations. Returns when the first attempt runs.
 * @throws GatewayError before anything was spent
 */
export async function serveModerations(gateway: PlainServices, http: EndpointRequest, report: CallReport): Promise<void> {
  const call = await receivePlainCall(gateway, http, moderationVoice, report);
  if (call === undefined) return;
  const moderation = readModeration(call.body, call.settings);
  const judged = findStandIn(call.settings, moderation);
  const task = { label: 'openai-moderations', voice: moderationVoice } as const;
  if (judged === undefined) {
    await startPlainCall(gateway, call, {
      ...task,
      facts: moderation.facts,
      kind: 'moderation',
      bound: () => () => moderation.bounds,
      createJob: (purchase) => createModerationJob({ ...call, moderation, purchase }),
    });
    return;
  }
  const { newId } = gateway;
  await startPlainCall(gateway, call, {
    ...task,
    facts: factsOfJudgement(judged),
    kind: 'chat',
    bound: () => boundsOfJudgement(judged),
    createJob: (purchase) => createJudgeJob({ ...call, moderation: judged, purchase, newId }),
  });
}
