import type { CreditBooks } from './credit-books.ts';

type Lease = Pick<Awaited<ReturnType<CreditBooks['listLeases']>>[number], 'nodeId' | 'potId' | 'leasedNanoUsd'>;

const sum = (values: Iterable<bigint>): bigint => [...values].reduce((total, value) => total + value, 0n);
const largest = (values: Iterable<bigint>): bigint => [...values].reduce((max, value) => (value > max ? value : max), 0n);

/** The level and the owner of a pot, by its id: `key:2026-11:k3jd82ls0a`, `balance:ann`, `balance-of-team:7`. */
function ownerOf(potId: string): readonly [level: string, owner: string] {
  const balance = /^balance(?:-of-(team|organization))?:([^]*)$/.exec(potId);
  if (balance !== null) return [balance[1] ?? 'user', balance[2] ?? ''];
  const [level = '', , ...owner] = potId.split(':');
  return [level, owner.join(':')];
}

/**
 * What processes have leased for calls, in nano-USD. A call leases its amount from each of its limits, so that of one
 * owner's pots the largest lease counts, and of the levels of a process the one that has leased most. With payers who
 * have limits of different levels this is less than all leases of single calls together, never more.
 */
export function leasedTogether(leases: readonly Lease[]): bigint {
  const nodes = Map.groupBy(leases, ({ nodeId }) => nodeId);
  return sum(
    nodes.values().map((own) => {
      const levels = Map.groupBy(own, ({ potId }) => ownerOf(potId)[0]);
      return largest(
        levels.values().map((pots) => {
          const owners = Map.groupBy(pots, ({ potId }) => ownerOf(potId)[1]);
          return sum(owners.values().map((leased) => largest(leased.map(({ leasedNanoUsd }) => leasedNanoUsd))));
        }),
      );
    }),
  );
}
