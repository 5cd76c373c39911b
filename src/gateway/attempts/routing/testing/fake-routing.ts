import { loadShippedPriceBook } from '../../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../../billing/rating/price-book.ts';
import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import type { VendorId } from '../../../../upstreams/upstream-vendor.ts';
import { createFakeUpstream } from '../../exchange/testing/fake-exchange.ts';
import { alwaysHealthy, type Availability, type HealthReader } from '../../health/health.ts';
import { type RankedCall, rankTargets } from '../rank-targets.ts';
import { type ConfiguredModel, createRoutingTable, type RoutingTable } from '../routing-table.ts';
import type { Target, Upstream } from '../target.ts';

const priceBook = createPriceBook({ book: loadShippedPriceBook() });

/** An upstream for tests. It speaks the dialects of its vendor by default. */
export function fakeUpstream(id: string, vendor: VendorId = 'openai-compatible', dialects?: readonly DialectId[]): Upstream {
  const upstream = createFakeUpstream({ vendor }, { send: () => {}, close: () => Promise.resolve() });
  return { ...upstream, id, credentialId: id, dialects: dialects ?? upstream.vendor.dialects };
}

/** A target of model `m` at an upstream of that name. */
export function fakeTarget(id: string, more: Partial<Target> = {}): Target {
  return { upstream: fakeUpstream(id), upstreamModel: 'm', ...more };
}

/** A table with one model, `m`. */
export function fakeTable(targets: readonly Target[], more: Partial<ConfiguredModel> = {}): RoutingTable {
  const upstreams = targets.map(({ upstream }) => upstream);
  return createRoutingTable({ upstreams, models: [{ name: 'm', targets, ordered: true, ...more }], priceBook, configuredAtMs: 0 });
}

/** The health of a target: its state, its running calls, and when a call was last sent there. */
export type FakeHealthState = { readonly availability?: Availability; readonly inFlight?: number; readonly lastSentMs?: number };

/** Health by credential id. All other targets are healthy. */
export function fakeHealth(states: Readonly<Record<string, FakeHealthState>>): HealthReader {
  return {
    of: ({ credentialId }) => {
      const { availability = { usable: true, state: 'healthy' }, inFlight = 0, lastSentMs = 0 } = states[credentialId] ?? {};
      return { availability: () => availability, inFlight: () => inFlight, lastSentMs: () => lastSentMs };
    },
  };
}

/** The properties of a call for `m`. By default a chat completion that says `hello`. */
export type FakeCall = Partial<Omit<RankedCall, 'dialect' | 'facts'>> & {
  readonly dialect?: DialectId;
  readonly facts?: Partial<RankedCall['facts']>;
};

export function rankFake(table: RoutingTable, call: FakeCall = {}): readonly Target[] {
  const { dialect = 'openai-chat', facts, ...more } = call;
  return rankTargets({
    table,
    dialect: chatDialects[dialect],
    facts: { requestedModel: 'm', stream: false, inputCharacters: 0, needs: [], ...facts },
    request: { operation: 'generate', body: { model: 'm', messages: [{ role: 'user', content: 'hello' }] }, headers: {} },
    caller: { userId: 'user' },
    health: alwaysHealthy,
    nowMs: 0,
    random: () => 0.5,
    ...more,
  });
}

/** The credentials of ranked targets, in their order. */
export const idsOf = (targets: readonly Target[]): readonly string[] => targets.map(({ upstream }) => upstream.credentialId);

/** A call of the session `id`. */
export const inSession = (id: string): Pick<RankedCall, 'request'> => ({
  request: { operation: 'generate', body: {}, headers: { 'x-weir-session': id } },
});
