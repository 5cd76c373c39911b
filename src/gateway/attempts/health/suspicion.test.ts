import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { AttemptTicket } from './health.ts';
import { answered, failed, setUpHealth, unknown } from './testing/fake-health.ts';

/** A target whose heads usually take a tenth of a second. */
function setUpUsual(usualMs = 100) {
  const setUp = setUpHealth();
  const { of, advance } = setUp;
  const answer = (headMs: number): void => {
    const ticket = of().begin();
    advance(headMs);
    ticket.headArrived();
    ticket.end(answered);
  };
  for (let times = 0; times < 50; times += 1) answer(usualMs);
  const send = (count: number): readonly AttemptTicket[] => Array.from({ length: count }, () => of().begin());
  return { ...setUp, answer, send };
}

describe('a silent upstream becomes suspect', () => {
  test('it is suspect when five calls wait four times the usual time, long before any limit', () => {
    const { send, advance, see, of } = setUpUsual();
    send(5);
    advance(400);
    assert.equal(see(of()), 'healthy');
    advance(10);
    assert.equal(see(of()), 'suspect');
  });

  test('it is not suspect when four calls wait, however long', () => {
    const { send, advance, see, of } = setUpUsual();
    send(4);
    advance(600_000);
    assert.equal(see(of()), 'healthy');
  });

  test('it is not suspect within 300 ms, however fast it usually is', () => {
    const { send, advance, see, of } = setUpUsual(1);
    send(5);
    advance(300);
    assert.equal(see(of()), 'healthy');
    advance(1);
    assert.equal(see(of()), 'suspect');
  });

  test('it is not suspect within three seconds if its usual time is unknown; errors say nothing about it', () => {
    const { of, see, advance, attempt } = setUpHealth();
    attempt(of(), failed);
    for (let times = 0; times < 5; times += 1) of().begin();
    advance(3000);
    assert.equal(see(of()), 'healthy');
    advance(1);
    assert.equal(see(of()), 'suspect');
  });

  test('the first head ends the suspicion, whatever happens to the other calls', () => {
    const { send, advance, see, of } = setUpUsual();
    const [first, ...others] = send(50);
    advance(1000);
    assert.equal(see(of()), 'suspect');
    first?.headArrived();
    assert.equal(see(of()), 'healthy');
    advance(600_000);
    assert.equal(see(of()), 'healthy', 'those who waited then are acquitted');
    for (const ticket of others) ticket.end(unknown);
    assert.equal(see(of()), 'healthy');
  });

  test('it is suspect again when new calls wait while old ones still hang', () => {
    const { send, advance, see, of, answer } = setUpUsual();
    const old = send(4);
    advance(1000);
    answer(100);
    send(5);
    for (const ticket of old) ticket.end(failed);
    advance(1000);
    assert.equal(see(of()), 'suspect');
  });

  test('the suspicion ends when the waiting clients have disconnected', () => {
    const { send, advance, see, of } = setUpUsual();
    const waiting = send(5);
    advance(1000);
    waiting[0]?.end(unknown);
    assert.equal(see(of()), 'healthy');
    for (const ticket of waiting) ticket.end(unknown);
    send(5);
    assert.equal(see(of()), 'healthy', 'the time of those who come later begins with them');
  });

  test('one call in ten seconds tries it while others are preferred', () => {
    const { send, advance, see, of } = setUpUsual();
    send(5);
    advance(9999);
    assert.equal(see(of()), 'suspect');
    advance(1);
    assert.equal(see(of()), 'probe');
    const trial = of().begin();
    assert.ok(trial.isProbe);
    assert.equal(see(of()), 'suspect');
    trial.headArrived();
    assert.equal(see(of()), 'healthy');
  });

  test('a model that reasons for minutes is not suspect after its usual time is known', () => {
    const { send, advance, see, of, answer } = setUpUsual();
    for (let times = 0; times < 30; times += 1) answer(60_000);
    send(20);
    advance(200_000);
    assert.equal(see(of()), 'healthy');
  });

  test('a server that answers a long queue one by one is not suspect', () => {
    const { send, advance, see, of } = setUpUsual();
    for (const ticket of send(200)) {
      advance(400);
      assert.equal(see(of()), 'healthy');
      ticket.headArrived();
      ticket.end(answered);
    }
  });

  test('streams that stall after their head are noticed if the caller reports only their content', () => {
    const { of, advance, see } = setUpHealth();
    const stream = (): AttemptTicket => of().begin();
    for (let times = 0; times < 20; times += 1) {
      const good = stream();
      advance(200);
      good.contentArrived();
      good.end(answered);
    }
    for (let times = 0; times < 5; times += 1) stream();
    advance(2000);
    assert.equal(see(of()), 'suspect');
  });
});
