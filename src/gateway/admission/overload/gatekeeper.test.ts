import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';

import { silentLogger } from '../../../platform/log.ts';
import type { Admission } from './fair-gate.ts';
import { createGatekeeper, type Gatekeeper } from './gatekeeper.ts';
import type { LoopReading } from './process-watch.ts';
import { defaultOverload, type OverloadSettings } from '../../settings/limits.ts';

const stays = (): boolean => false;
const quick: LoopReading = { turnMs: 1, workMs: 1, busyShare: 0.3 };
const slow: LoopReading = { turnMs: 200, workMs: 200, busyShare: 1 };

describe('the gatekeeper bounds calls', () => {
  let keeper: Gatekeeper;
  let nowMs: number;
  let loop: LoopReading;
  let memoryShare: number;
  let settings: OverloadSettings;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    nowMs = 0;
    loop = quick;
    memoryShare = 0.1;
    settings = defaultOverload;
    keeper = createGatekeeper({
      settings: () => settings,
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      logger: silentLogger,
      readLoop: () => loop,
      readMemoryShare: () => memoryShare,
    });
  });
  afterEach(() => {
    keeper.close();
    mock.timers.reset();
  });

  const passMs = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 10) {
      nowMs += 10;
      mock.timers.tick(10);
    }
  };
  /** Admits calls until one is not admitted at once. */
  const fill = (tenant: string, callsMax = 100_000): Admission[] => {
    const places: Admission[] = [];
    while (places.length < callsMax) {
      const admitted = keeper.admit(tenant, 10, stays);
      if (admitted === undefined || admitted instanceof Promise) break;
      places.push(admitted);
    }
    return places;
  };

  test('an idle process accepts what the configuration allows, except for the reserved part', () => {
    settings = { ...defaultOverload, callsMax: 1100 };
    passMs(100);
    assert.equal(fill('a').length, 1000);
    assert.equal(fill('b').length, 100);
    assert.equal(keeper.state().inFlight, 1100);
  });

  test('long turns limit calls to fewer than are running, short ones allow more again', () => {
    const places = fill('a', 1000);
    loop = slow;
    passMs(300);
    assert.ok(keeper.state().limit !== undefined);
    assert.equal(keeper.admit('a', 10, stays), undefined);
    for (const place of places.splice(0, 600)) place.release();
    loop = quick;
    fill('a');
    passMs(100);
    assert.ok(fill('a').length > 10);
  });

  test('the limit ends when it affects no call', () => {
    fill('a', 200);
    loop = slow;
    passMs(300);
    loop = quick;
    passMs(5000);
    assert.equal(keeper.state().limit, undefined);
  });

  test('another tenant enters while one floods', () => {
    fill('flood', 1000);
    loop = { turnMs: 20, workMs: 20, busyShare: 1 };
    passMs(100);
    loop = slow;
    passMs(300);
    assert.ok((keeper.state().limit ?? 1000) < 1000);
    assert.equal(keeper.admit('flood', 10, stays), undefined);
    assert.ok(fill('quiet', 10).length === 10, 'although nothing has ended yet');
  });

  test('a call that waits is answered within its time', async () => {
    settings = { ...defaultOverload, callsMax: 16 };
    passMs(100);
    fill('a');
    fill('b');
    const late = keeper.admit('c', 10, stays);
    assert.ok(late instanceof Promise);
    passMs(100);
    assert.equal(await late, undefined);
  });

  test('tight memory ends connections, full memory admits hardly any call, but always a few', () => {
    memoryShare = 0.93;
    passMs(500);
    assert.ok(keeper.closesConnections());
    assert.ok(fill('a', 100).length === 100);
    memoryShare = 0.96;
    passMs(500);
    assert.equal(keeper.admit('a', 10, stays), undefined);
  });

  test('with full memory and no running call, a few calls are admitted', () => {
    memoryShare = 0.99;
    passMs(500);
    assert.ok(fill('a').length >= 1);
    memoryShare = 0.5;
    passMs(500);
    assert.ok(!keeper.closesConnections());
    assert.ok(fill('a', 100).length === 100);
  });

  test('many refused calls receive different retry times', () => {
    settings = { ...defaultOverload, callsMax: 16 };
    passMs(100);
    fill('a');
    for (let call = 0; call < 100; call += 1) void keeper.admit('a', 10, stays);
    assert.equal(keeper.retryAfterSeconds(), 1);
    passMs(100);
    const told = new Set(Array.from({ length: 50 }, () => keeper.retryAfterSeconds()));
    assert.ok(told.size > 1 && Math.max(...told) <= 8 && Math.min(...told) >= 1);
  });
});
