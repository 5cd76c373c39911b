import type { CallbackSecrets, CallbackStore, Delivery, NewDelivery } from '../callback-store.ts';

type Row = { delivery: Delivery; owner: string | undefined; leaseUntilMs: number; overAtMs: number | undefined };

/** A store of callbacks in memory for tests, with the same contract as the engines. */
export function createFakeCallbackStore(): CallbackStore {
  const rows = new Map<string, Row>();
  const secrets = new Map<string, CallbackSecrets>();
  return {
    ...createAttempts(rows),
    insertDeliveries: async (deliveries) => {
      for (const delivery of structuredClone(deliveries))
        if (!rows.has(delivery.id)) rows.set(delivery.id, begin(delivery, delivery.createdAtMs));
    },
    listDeliveries: async ({ userName, subject, limit }) =>
      [...rows.values()]
        .map(({ delivery }) => delivery)
        .filter((delivery) => delivery.userName === userName && (subject === undefined || delivery.subject === subject))
        .toSorted((left, right) => right.createdAtMs - left.createdAtMs || compare(right.id, left.id))
        .slice(0, limit)
        .map((delivery) => structuredClone(delivery)),
    findCallbackSecrets: async (userName) => structuredClone(secrets.get(userName)),
    putCallbackSecrets: async (put) => {
      secrets.set(put.userName, structuredClone(put));
    },
  };
}

type Attempts = Pick<CallbackStore, 'claimDeliveries' | 'recordAttempt' | 'redeliver' | 'sweepDeliveries'>;

function createAttempts(rows: Map<string, Row>): Attempts {
  return {
    claimDeliveries: async ({ owner, nowMs, leaseUntilMs, limit }) => {
      const due = [...rows.values()]
        .filter(({ delivery, leaseUntilMs: until }) => delivery.status === 'waiting' && delivery.nextAttemptAtMs <= nowMs && until <= nowMs)
        .toSorted(({ delivery: left }, { delivery: right }) => left.nextAttemptAtMs - right.nextAttemptAtMs || compare(left.id, right.id))
        .slice(0, limit);
      for (const row of due) Object.assign(row, { owner, leaseUntilMs });
      return due.map(({ delivery }) => structuredClone(delivery));
    },
    recordAttempt: async ({ id, owner, ...attempt }) => {
      const row = rows.get(id);
      if (row === undefined || row.owner !== owner) return false;
      const wasDueAtMs = row.delivery.nextAttemptAtMs;
      row.delivery = { ...asNew(row.delivery), ...attempt };
      row.overAtMs = attempt.status === 'waiting' ? undefined : (attempt.deliveredAtMs ?? Math.max(wasDueAtMs, attempt.nextAttemptAtMs));
      Object.assign(row, { owner: undefined, leaseUntilMs: 0 });
      return true;
    },
    redeliver: async ({ userName, id, change }) => {
      const row = rows.get(id);
      if (row === undefined || row.delivery.userName !== userName) return false;
      rows.set(id, begin(asNew(row.delivery), change.atMs));
      return true;
    },
    sweepDeliveries: async ({ beforeMs, limit }) => {
      const over = [...rows.values()].flatMap(({ delivery: { id }, overAtMs }) => (overAtMs === undefined ? [] : [{ id, overAtMs }]));
      const swept = over
        .filter(({ overAtMs }) => overAtMs < beforeMs)
        .toSorted((left, right) => left.overAtMs - right.overAtMs)
        .slice(0, limit);
      for (const { id } of swept) rows.delete(id);
      return swept.length;
    },
  };
}

const compare = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

function begin(delivery: NewDelivery, nextAttemptAtMs: number): Row {
  return {
    delivery: { ...delivery, status: 'waiting', attempts: 0, nextAttemptAtMs },
    owner: undefined,
    leaseUntilMs: 0,
    overAtMs: undefined,
  };
}

/** A delivery without its outcome. */
function asNew({ id, userName, subject, eventType, sealedUrl, payload, createdAtMs }: Delivery): NewDelivery {
  return { id, userName, subject, eventType, sealedUrl, payload, createdAtMs };
}
