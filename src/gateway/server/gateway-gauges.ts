import type { VideoService } from '../endpoints/videos/video-service.ts';
import { release } from '../../platform/release.ts';
import type { Journal } from '../../billing/journal/journal.ts';
import type { MetricRegistry, GaugeSample } from '../../platform/metrics/metric-registry.ts';
import type { BackgroundRuns } from '../endpoints/chat/background/background-runs.ts';
import type { Gatekeeper } from '../admission/overload/gatekeeper.ts';
import type { Health, HealthReport } from '../attempts/health/health.ts';

const states: readonly HealthReport['state'][] = ['healthy', 'suspect', 'failing', 'rate-limited', 'rejected'];

/** Adds gauges that are read when metrics are requested: the state of the journal, of the gate and of all targets. */
export function addGatewayGauges(
  registry: MetricRegistry,
  gateway: {
    readonly journal: Pick<Journal, 'pendingEntries' | 'unavailableReason'>;
    readonly health: Pick<Health, 'report'>;
    readonly gatekeeper: Pick<Gatekeeper, 'state'>;
    readonly background?: Pick<BackgroundRuns, 'size'>;
    readonly videos?: Pick<VideoService, 'gauges'> | undefined;
  },
): void {
  const { journal, health, gatekeeper } = gateway;
  const gauge = (name: string, help: string, labels: readonly string[], merge: 'sum' | 'max', read: () => readonly GaugeSample[]): void =>
    registry.collected({ name, help, labels, type: 'gauge', merge, read });
  gauge('weir_build_info', '1, with what runs: the version, and the commit of a released package.', ['version', 'commit'], 'max', () => [
    { labels: [release.version, release.commit ?? ''], value: 1 },
  ]);
  gauge('weir_journal_pending_entries', 'Calls that are in the journal and not yet in the store.', [], 'sum', () => [
    { labels: [], value: journal.pendingEntries() },
  ]);
  gauge('weir_journal_unavailable', '1 while the journal cannot be written and calls are refused.', [], 'max', () => [
    { labels: [], value: journal.unavailableReason() === undefined ? 0 : 1 },
  ]);
  gauge('weir_gate_calls', 'Admitted calls that are not over, and calls that wait for a place.', ['state'], 'sum', () => {
    const { inFlight, waiting } = gatekeeper.state();
    return [
      { labels: ['in-flight'], value: inFlight },
      { labels: ['waiting'], value: waiting },
    ];
  });
  gauge('weir_gate_request_bytes', 'Bytes of request bodies that running calls hold.', [], 'sum', () => [
    { labels: [], value: gatekeeper.state().bytes },
  ]);
  gauge('weir_memory_share', 'Share of the memory that the process may use, from 0 to 1.', [], 'max', () => [
    { labels: [], value: gatekeeper.state().memoryShare },
  ]);
  gauge('weir_background_responses', 'Responses that are being generated without a client.', [], 'sum', () => [
    { labels: [], value: gateway.background?.size() ?? 0 },
  ]);
  if (gateway.videos !== undefined) addVideoGauges(gauge, gateway.videos);
  const target = ({ upstreamId, credentialId, upstreamModel }: HealthReport): readonly string[] => [
    upstreamId,
    credentialId,
    upstreamModel,
  ];
  const labels = ['upstream', 'credential', 'model'];
  gauge('weir_target_state', '1 for the state of a target, and 0 for the other states.', [...labels, 'state'], 'max', () =>
    health
      .report()
      .flatMap((report) => states.map((state) => ({ labels: [...target(report), state], value: report.state === state ? 1 : 0 }))),
  );
  gauge('weir_target_calls_in_flight', 'Running attempts at a target.', labels, 'sum', () =>
    health.report().map((report) => ({ labels: target(report), value: report.inFlight })),
  );
  gauge('weir_target_consecutive_failures', 'Failures of a target since its last success.', labels, 'max', () =>
    health.report().map((report) => ({ labels: target(report), value: report.consecutiveFailures })),
  );
}

type AddGauge = (name: string, help: string, labels: readonly string[], merge: 'sum' | 'max', read: () => readonly GaugeSample[]) => void;

/** The figures of the whole store are equal in every process. The others belong to one process. */
function addVideoGauges(gauge: AddGauge, { gauges }: Pick<VideoService, 'gauges'>): void {
  gauge('weir_video_tasks_open', 'Videos that are not over, in the whole store.', [], 'max', () => [{ labels: [], value: gauges().open }]);
  gauge('weir_video_tasks_alerted', 'Those of them that need an operator.', [], 'max', () => [{ labels: [], value: gauges().alerted }]);
  gauge('weir_video_poll_lateness_seconds', 'Delay of the most overdue poll of a video.', [], 'max', () => [
    { labels: [], value: gauges().latenessMs / 1000 },
  ]);
  gauge(
    'weir_video_work',
    'Polls of upstreams in progress, files that are being copied, and files that wait for it.',
    ['state'],
    'sum',
    () => {
      const { polling, copying, copiesWaiting } = gauges();
      return [
        { labels: ['polling'], value: polling },
        { labels: ['copying'], value: copying },
        { labels: ['waiting'], value: copiesWaiting },
      ];
    },
  );
}
