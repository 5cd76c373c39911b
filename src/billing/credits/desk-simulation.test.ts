import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { Payer } from './credit-desk.ts';
import { potsOf, spendLimitOf } from './pots.ts';
import { payerOf, settle, SimulatedNodes, type StoreFault } from './testing/simulated-nodes.ts';

const usd = (nanoUsd: number): string => `0.${String(nanoUsd).padStart(9, '0')}`;

const dayMs = 86_400_000;
const index = fc.nat({ max: 1000 });
const amount = fc.nat({ max: 400 });
type Step =
  | { readonly type: 'open' | 'extend' | 'charge'; readonly at: number; readonly of: number; readonly nanoUsd: number }
  | { readonly type: 'end' | 'ship' | 'tick' | 'arrive'; readonly at: number }
  | { readonly type: 'fault'; readonly at: number; readonly fault: StoreFault }
  | { readonly type: 'crash'; readonly at: number; readonly share: number }
  | { readonly type: 'wait' | 'jump'; readonly ms: number }
  | { readonly type: 'pay'; readonly nanoUsd: number }
  | { readonly type: 'limit'; readonly nanoUsd: number; readonly of: number };

const call = (type: 'open' | 'extend' | 'charge'): fc.Arbitrary<Step> =>
  fc.record({ type: fc.constant(type), at: index, of: index, nanoUsd: amount });
const plain = (type: 'end' | 'ship' | 'tick' | 'arrive'): fc.Arbitrary<Step> => fc.record({ type: fc.constant(type), at: index });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: call('open') },
    { weight: 2, arbitrary: call('extend') },
    { weight: 6, arbitrary: call('charge') },
    { weight: 6, arbitrary: plain('end') },
    { weight: 4, arbitrary: plain('ship') },
    { weight: 4, arbitrary: plain('tick') },
    { weight: 1, arbitrary: plain('arrive') },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('fault' as const),
        at: index,
        fault: fc.constantFrom<StoreFault>('none', 'none', 'down', 'lost', 'late'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('crash' as const), at: index, share: fc.nat({ max: 100 }) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(100, 1000, 20_000, 70_000, 700_000) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('jump' as const), ms: fc.integer({ min: -3_600_000, max: 3_600_000 }) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('pay' as const), nanoUsd: amount }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('limit' as const), nanoUsd: fc.nat({ max: 3000 }), of: index }) },
  ),
  { minLength: 10, maxLength: 80, size: 'max' },
);

/**
 * A simulated world with two keys of a prepaid user and one of a user whose team pays, in one team and one organization
 * with limits, and the most that may be spent of each pot.
 */
class Trial {
  readonly world = new SimulatedNodes();
  readonly #ceilings = new Map<string, bigint>();
  #payers: Payer[] = [];
  #userLimits: AccessLimits = { prepaid: true, spendPerMonth: usd(5000) };
  #keyLimits: readonly AccessLimits[] = [{ spendPerDay: usd(2000) }, { spendTotal: usd(3000), spendPerDay: usd(900) }];
  #teamLimits: AccessLimits = { prepaid: true, spendPerDay: usd(2500) };
  #organizationLimits: AccessLimits | undefined = { spendPerMonth: usd(6000) };
  #paid = 4000n;
  readonly #teamPaid = 1500n;

  async start(nodes: number): Promise<void> {
    this.world.store.pay('ann', this.#paid);
    this.world.store.pay({ level: 'team', teamId: 't' }, this.#teamPaid);
    this.#apply();
    for (let count = 0; count < nodes; count += 1) await this.world.start(`node-${count}`);
  }

  #apply(): void {
    const { store } = this.world;
    store.setLimits('user:ann', this.#userLimits);
    for (const [at, limits] of this.#keyLimits.entries()) store.setLimits(`key:k${at}`, limits);
    store.setLimits('team:t', this.#teamLimits);
    store.setLimits('organization:1', this.#organizationLimits);
    const above = {
      team: { id: 't', name: 'research', limits: this.#teamLimits },
      ...(this.#organizationLimits === undefined ? {} : { organizationLimits: this.#organizationLimits }),
    };
    const ofAnn = this.#keyLimits.map((limits, at) => payerOf('ann', `k${at}`, limits, this.#userLimits));
    this.#payers = [...ofAnn, payerOf('bob', 'k2', undefined, undefined)].map((payer) => ({ ...payer, ...above }));
  }

  payer(at: number): Payer {
    return this.#payers[at % this.#payers.length] ?? assert.fail();
  }

  /** All pots with a limit at the moment. */
  pots(atMs = this.world.nowMs) {
    return this.#payers.flatMap((payer) => potsOf(payer, atMs).map((pot) => ({ pot, payer })));
  }

  limitOf({ pot, payer }: ReturnType<Trial['pots']>[number]): bigint {
    if (pot.kind === 'balance') return pot.owner.level === 'user' ? this.#paid : this.#teamPaid;
    const { limits, userLimits, team, organizationLimits } = payer;
    const owned = { key: limits, user: userLimits, team: team?.limits, organization: organizationLimits };
    return spendLimitOf(pot, owned[pot.scope]) ?? assert.fail();
  }

  /** Spend never exceeds a limit; after a limit was lowered, it may reach what was leased or spent at that time. */
  check(): void {
    for (const each of this.pots()) {
      const { id } = each.pot;
      const ceiling = this.#ceilings.get(id) ?? 0n;
      const limit = this.limitOf(each);
      const committed = this.world.committed(id);
      assert.ok(committed <= (ceiling > limit ? ceiling : limit), `${id}: ${committed} of ${limit} (${ceiling})`);
    }
    for (const node of this.world.nodes) {
      const held = node.desk.figures().held;
      const pots = this.world.calls.filter((each) => each.node === node);
      const reserved = pots.reduce((sum, { hold, chargedNanoUsd }) => {
        const bits = Array.from({ length: 15 }, (_, at) => 2 ** at).filter((bit) => (hold.pots & bit) !== 0).length;
        return sum + (hold.heldNanoUsd() - chargedNanoUsd) * BigInt(bits);
      }, 0n);
      assert.equal(held, reserved, `held by ${node.nodeId}`);
    }
  }

  pay(nanoUsd: bigint): void {
    this.#paid += nanoUsd;
    this.world.store.pay('ann', nanoUsd);
  }

  lower(of: number, nanoUsd: number): void {
    // The clock may jump back or forward to days with calls.
    const { nowMs } = this.world;
    for (const { pot } of [nowMs - dayMs, nowMs, nowMs + dayMs].flatMap((atMs) => this.pots(atMs))) {
      const ceiling = this.#ceilings.get(pot.id) ?? 0n;
      const reachable = this.world.committed(pot.id) + this.world.store.leasedOf(pot.id);
      this.#ceilings.set(pot.id, ceiling > reachable ? ceiling : reachable);
    }
    // A level that gets limits back gets only those that calls from before cannot exceed.
    if (of % 7 === 3) this.#teamLimits = { prepaid: true, spendPerDay: usd(nanoUsd) };
    else if (of % 7 === 4) this.#teamLimits = { prepaid: true };
    else if (of % 7 === 5) this.#organizationLimits = undefined;
    else if (of % 7 === 6) this.#organizationLimits = { spendPerMonth: usd(900_000) };
    else if (of % 3 === 2) this.#userLimits = { prepaid: true, spendPerMonth: usd(nanoUsd) };
    else this.#keyLimits = this.#keyLimits.map((limits, at) => (at === of % 3 ? { ...limits, spendPerDay: usd(nanoUsd) } : limits));
    this.#apply();
  }
}

async function run(trial: Trial, step: Step): Promise<void> {
  const { world } = trial;
  const nodeAt = (at: number) => world.nodes[at % world.nodes.length] ?? assert.fail();
  const callAt = (at: number) => world.calls[at % Math.max(1, world.calls.length)];
  switch (step.type) {
    case 'open':
      void world.open(nodeAt(step.at), trial.payer(step.of), BigInt(step.nanoUsd));
      break;
    case 'extend':
      void callAt(step.at)?.hold.extend(BigInt(step.nanoUsd));
      break;
    case 'charge': {
      const found = callAt(step.at);
      if (found === undefined) break;
      const left = found.hold.heldNanoUsd() - found.chargedNanoUsd;
      world.charge(found, left < BigInt(step.nanoUsd) ? left : BigInt(step.nanoUsd));
      break;
    }
    case 'end': {
      const found = callAt(step.at);
      if (found !== undefined) world.end(found);
      break;
    }
    case 'ship':
      try {
        world.ship(nodeAt(step.at), 3);
      } catch {
        // The store is down: journalled charges wait.
      }
      break;
    case 'tick':
      world.monotonicMs += 250;
      await nodeAt(step.at).desk.tick();
      break;
    case 'arrive':
      await world.arrive();
      break;
    case 'fault':
      nodeAt(step.at).fault = step.fault;
      break;
    case 'crash':
      world.crash(nodeAt(step.at), BigInt(step.share));
      // Requests of a dead process take effect before those of its successor, as a database ends the connections of
      // dead clients.
      await world.arrive();
      await world.restart(nodeAt(step.at));
      break;
    case 'wait':
      world.monotonicMs += step.ms;
      world.nowMs += step.ms;
      break;
    case 'jump':
      world.nowMs += step.ms;
      break;
    case 'pay':
      trial.pay(BigInt(step.nanoUsd));
      break;
    case 'limit':
      trial.lower(step.of, step.nanoUsd);
      break;
  }
}

/**
 * Ends everything and repairs every fault: then nothing is held or leased, and the rest is available to the last
 * nano-USD.
 */
async function comeToRest(trial: Trial): Promise<void> {
  const { world } = trial;
  await world.arrive();
  for (const node of world.nodes) node.fault = 'none';
  // Waiting calls are admitted late, and end as well.
  for (let turn = 0; turn < 30; turn += 1) {
    world.monotonicMs += 500;
    for (const node of world.nodes) await node.desk.tick();
    await settle();
    while (world.calls[0] !== undefined) world.end(world.calls[0]);
  }
  for (const node of world.nodes) {
    assert.equal(node.desk.figures().held, 0n);
    assert.equal(node.desk.figures().waiting, 0);
    await node.desk.close();
  }
  for (const each of trial.pots()) {
    assert.equal(world.store.leasedOf(each.pot.id), 0n, `leased of ${each.pot.id} at rest`);
    assert.equal(world.committed(each.pot.id), world.store.spentOf(each.pot.id));
  }
  const payer = trial.payer(0);
  const own = trial.pots().filter((each) => each.payer === payer);
  const lefts = own.map((each) => trial.limitOf(each) - world.store.spentOf(each.pot.id));
  const left = lefts.reduce((least, each) => (each < least ? each : least));
  const fresh = await world.start('fresh');
  await world.open(fresh, payer, (left < 0n ? 0n : left) + 1n);
  assert.equal(world.calls.length, 0, 'one nano-USD more than available is refused');
  if (left < 0n) return;
  await world.open(fresh, payer, left);
  assert.equal(world.calls.length, 1, `all that is left (${left}) can be reserved`);
}

for (const nodes of [1, 3])
  test(`M5 M6 M7 M16: spending stays within every limit and nothing is lost, with ${nodes} processes, crashes, faults of the store and clock jumps`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const trial = new Trial();
        await trial.start(nodes);
        for (const step of plan) {
          await run(trial, step);
          await settle();
          trial.check();
        }
        await comeToRest(trial);
      }),
      { numRuns: 100 },
    );
  });
