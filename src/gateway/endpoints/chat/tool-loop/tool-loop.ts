import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import { roundRowId, toolsRowId } from '../../../../billing/ledger/row-ids.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { foldEvents } from '../../../../inference/fold-events.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { EventStep, InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceReply } from '../../../../inference/inference-reply.ts';
import type { ToolResultPart, Turn } from '../../../../inference/inference-request.ts';
import { countTextCharacters } from '../../../../inference/count-text-characters.ts';
import type { ToolUsage } from '../../../../inference/usage.ts';
import type { Source } from '../../../../tools/gateway-tool.ts';
import { upstreamTimeout } from '../../../attempts/exchange/upstream-failure.ts';
import type { ChatServices } from '../chat-services.ts';
import type { RunningCall } from '../../../attempts/services.ts';
import { type Target, timeoutsOf } from '../../../attempts/routing/target.ts';
import { HeldText, ReplyChecks, describeMisfit, requestRepair } from './check-reply.ts';
import { citeSources } from './cite-sources.ts';
import { isTooExpensive, lacksCredit, lacksToolCredit, limitOutput } from './loop-limits.ts';
import { isFound } from './gather-addresses.ts';
import { LoopUsage, answererFirst, bookTools, mergeEntries, sumUsage } from './loop-books.ts';
import { internalError, replyTooLarge } from './loop-reply.ts';
import type { LoopCall } from './loop-call.ts';
import { closeTools, offerTools, type RoundOffer } from './offer-tools.ts';
import { type Round, type RoundOutcome, runRound } from './run-round.ts';
import { nextSource, readToolCall, runTools, sumToolUsage, type ToolCall, type ToolReturn } from './run-tools.ts';
import { MergedReply } from './merged-reply.ts';
import { showTools } from './show-tools.ts';

const creditSpent = 'the credit for this call is used up';

/**
 * One call whose model uses tools of the gateway: the model is called, its tool calls are run, and it is called again
 * with their results, until it answers. The client sees one reply. Each call of the model is a round with attempts and
 * a row of its own.
 */
export class ToolLoop implements RunningCall {
  readonly #gateway: ChatServices;
  readonly #loop: LoopCall;
  readonly #shown: MergedReply;
  readonly #heldText: HeldText;
  readonly #checks: ReplyChecks;
  readonly #sources = new Map<number, Source>();
  readonly #abort = new AbortController();
  readonly #entries: CallEntry[] = [];
  #cite: EventStep;
  #turns: readonly Turn[];
  #targets: readonly Target[];
  #round: Round | undefined;
  #rounds = 0;
  #runs = 0;
  /** The characters by which the conversation has grown. */
  #characters = 0;
  /** The characters that the model has written. */
  #written = 0;
  /** The events of the current round. */
  #events: InferenceEvent[] = [];
  #usedTokens = 0;
  #toolUsage: ToolUsage = {};
  /** What tools have booked in rows of their own. */
  #toolsNanoUsd = 0n;
  #pausedSinceMs: number | undefined;
  readonly #usage = new LoopUsage();
  /** Set if the call is ended from outside. */
  #ending: GatewayError | undefined;
  #isOver = false;
  #isReaderLimited = false;

  constructor(gateway: ChatServices, loop: LoopCall) {
    this.#gateway = gateway;
    this.#loop = loop;
    this.#shown = new MergedReply(loop.offered);
    this.#heldText = new HeldText(loop.check !== undefined);
    this.#checks = new ReplyChecks(gateway, loop, this.#abort.signal);
    this.#cite = citeSources(this.#sources);
    this.#turns = loop.request.turns;
    this.#targets = loop.prepared.targets;
  }

  /**
   * Resolves when the first request to the model was sent. The loop then continues by itself and ends the call.
   * @throws GatewayError if the request cannot be sent; nothing was spent then
   */
  async start(): Promise<void> {
    const { deadlines } = this.#gateway;
    const { sink } = this.#loop;
    const round = this.#ask('as-chosen');
    await round.started;
    this.#checks.prepare();
    const slot = deadlines.watch(this);
    let isClosed = false;
    const close = (): void => {
      if (isClosed) return;
      isClosed = true;
      void this.#leave().finally(() => deadlines.unwatch(slot));
    };
    sink.onClose(close);
    this.#run(round).catch((error: unknown) => this.#endBroken(error));
    if (sink.isGone) close();
  }

  async #run(first: Round): Promise<void> {
    let round = first;
    for (;;) {
      const outcome = await round.outcome;
      this.#learn(outcome);
      if (outcome.end === 'left') return this.#endEarly();
      if (this.#isOver) return;
      if (outcome.end === 'failed') return this.#fail(outcome.error ?? internalError(this.#loop.prepared.call.callId));
      const reply = foldEvents(this.#events);
      const calls = this.#readCalls(reply);
      const problems = calls.length > 0 ? undefined : await this.#checks.findProblems(reply);
      // The call has ended during the check.
      if (problems === 'call-ended') return;
      const held = this.#heldText.release();
      if (problems !== undefined) {
        if (!this.#checks.takeRepair() || this.#isTooExpensive() || this.#isWrittenOut()) return this.#fail(describeMisfit(problems));
        this.#grow(requestRepair(reply, problems));
        if (await this.#lacksCredit()) return this.#fail(describeMisfit(problems));
        if (this.#isOver) return;
        round = this.#ask('withheld');
        continue;
      }
      this.#push(held.flatMap((event) => this.#shown.show(event)));
      if (calls.length === 0) return await this.#finish(reply.stopReason, reply);
      if (this.#isLastRound()) return await this.#finish('output-limit', { stopDetail: 'the limit of tool rounds is reached' });
      if (await lacksToolCredit(this.#loop.prepared, calls)) return await this.#finish('output-limit', { stopDetail: creditSpent });
      const returns = await this.#runTools(calls);
      if (this.#isOver) return;
      const callsClient = reply.parts.some((part) => part.kind === 'tool-call' && !this.#loop.offered.has(part.name));
      this.#push(this.#shown.release());
      if (callsClient) return await this.#finish('tool-calls', {});
      if (this.#isTooExpensive()) return await this.#finish('output-limit', { stopDetail: 'the cost limit of a call is reached' });
      if (this.#isWrittenOut()) return await this.#finish('output-limit', {});
      this.#remember(reply, returns);
      if (await this.#lacksCredit()) return await this.#finish('output-limit', { stopDetail: creditSpent });
      // The client may have disconnected during the query of the store.
      if (this.#isOver) return;
      round = this.#ask(this.#isLastRound(1) || this.#runs >= this.#loop.runsMax ? 'withheld' : 'freely');
    }
  }

  #ask(offer: RoundOffer): Round {
    const { prepared, offered } = this.#loop;
    const { callId } = prepared.call;
    const request = limitOutput(this.#loop.request, this.#entries) ?? this.#loop.request;
    const deliveredBefore = this.#loop.reply.deliveredCharacters;
    this.#rounds += 1;
    this.#events = [];
    this.#usage.beginRound();
    const isFirst = this.#rounds === 1;
    // Without offered tools there is nothing to withhold.
    const roundOffer = offered.size === 0 ? 'as-chosen' : this.#isLastRound() ? 'withheld' : offer;
    this.#round = runRound(
      this.#gateway,
      prepared,
      {
        request: offerTools({ ...request, turns: this.#turns }, offered, roundOffer),
        facts: this.#nextFacts(),
        targets: this.#targets,
        rowId: roundRowId(callId, this.#rounds),
        ...(isFirst ? {} : { parentCallId: callId }),
      },
      {
        head: (headers) => {
          if (isFirst) this.#loop.reply.setHeaders(headers);
        },
        events: (events) => this.#read(events),
        abandoned: () => this.#loop.sink.destroy(),
        used: (tokens) => (this.#usedTokens += tokens),
        delivered: () => this.#loop.reply.deliveredCharacters - deliveredBefore,
      },
    );
    return this.#round;
  }

  #isLastRound(ahead = 0): boolean {
    return this.#rounds + ahead >= this.#loop.settings.roundsMax;
  }

  /** Whether the output limit of the client for the whole reply is reached. */
  readonly #isWrittenOut = (): boolean => limitOutput(this.#loop.request, this.#entries) === undefined;

  readonly #isTooExpensive = (): boolean => isTooExpensive(this.#loop.settings.costMaxNanoUsd, this.#entries, this.#toolsNanoUsd);

  #lacksCredit(): Promise<boolean> {
    return lacksCredit(this.#loop.prepared, {
      request: { ...this.#loop.request, turns: this.#turns },
      facts: this.#nextFacts(),
      targets: this.#targets,
    });
  }

  #nextFacts(): CallFacts {
    const { facts } = this.#loop.prepared;
    return { ...facts, inputCharacters: facts.inputCharacters + this.#characters };
  }

  /** Reads the model's output, and shows it. False if the client does not keep up. */
  #read(events: readonly InferenceEvent[]): boolean {
    if (this.#isOver) return true;
    const shown: InferenceEvent[] = [];
    for (const event of events) {
      this.#events.push(event);
      if (event.type === 'usage') shown.push(this.#usage.read(event.usageReport));
      if (event.type === 'delta') this.#written += event.text.length;
      for (const passed of this.#heldText.pass(event)) shown.push(...this.#shown.show(passed));
    }
    const { replyBytesMax } = this.#loop.prepared.settings.limits;
    if (this.#written > replyBytesMax) this.terminate(replyTooLarge(replyBytesMax));
    return this.#push(shown);
  }

  #push(events: readonly InferenceEvent[]): boolean {
    const isTaken = this.#loop.reply.push(events.flatMap((event) => this.#cite(event)));
    if (isTaken || this.#pausedSinceMs !== undefined) return isTaken;
    this.#pausedSinceMs = this.#gateway.clock.monotonicMs();
    this.#loop.sink.onRoom(() => {
      this.#pausedSinceMs = undefined;
      this.#round?.resume();
    });
    return false;
  }

  /** Records the entry of a round. The next round first goes to the same target, for its cache and its proofs. */
  #learn({ entry }: RoundOutcome): void {
    if (entry === undefined) return;
    this.#entries.push(entry);
    this.#targets = answererFirst(this.#targets, entry);
  }

  #readCalls(reply: InferenceReply): readonly ToolCall[] {
    // Truncated arguments are not a call.
    if (reply.stopReason !== 'tool-calls' && reply.stopReason !== 'end') return [];
    return reply.parts.flatMap((part) => {
      const tool = part.kind === 'tool-call' ? this.#loop.offered.get(part.name) : undefined;
      return tool === undefined || part.kind !== 'tool-call' ? [] : [readToolCall(part, tool)];
    });
  }

  /** Runs the tools of a turn, and shows each in order as soon as those before it are done. */
  async #runTools(calls: readonly ToolCall[]): Promise<readonly ToolReturn[]> {
    const { settings, runsMax, prepared } = this.#loop;
    const startedMs = this.#gateway.clock.monotonicMs();
    const allowed = runsMax - this.#runs;
    this.#runs += calls.length;
    const returns = await showTools({
      calls,
      run: (onPartialImage) =>
        runTools({
          calls,
          runsMax: allowed,
          firstSource: nextSource(this.#sources.values(), 1),
          runMsMax: settings.runMsMax,
          knowsAddress: (address) => this.#loop.knowsAddress(address) || isFound(this.#sources.values(), address),
          images: this.#loop.images ?? [],
          onPartialImage: prepared.framing === undefined ? undefined : onPartialImage,
          signal: this.#abort.signal,
          logger: this.#gateway.logger,
          clock: this.#gateway.clock,
          ran: this.#gateway.telemetry.toolRan,
        }),
      newToolId: this.#loop.newToolId,
      takeIndex: () => this.#shown.takeIndex(),
      push: (events) => this.#push(events),
      returned: ({ outcome }) => {
        for (const source of outcome.sources) this.#sources.set(source.number, source);
        this.#toolsNanoUsd += outcome.costNanoUsd ?? 0n;
      },
      isOver: () => this.#isOver,
    });
    const usage = sumToolUsage(returns.map(({ outcome }) => outcome.usage));
    if (Object.keys(usage).length === 0) return returns;
    const rowId = toolsRowId(prepared.call.callId, this.#rounds);
    const durationMs = Math.round(this.#gateway.clock.monotonicMs() - startedMs);
    this.#entries.push(bookTools(this.#gateway, prepared, { rowId, usage, durationMs }));
    this.#toolUsage = sumToolUsage([this.#toolUsage, usage]);
    return returns;
  }

  #remember(reply: InferenceReply, returns: readonly ToolReturn[]): void {
    const results: ToolResultPart[] = returns.map(({ result }) => result);
    this.#grow([
      { role: 'assistant', parts: reply.parts },
      { role: 'user', parts: results },
    ]);
  }

  #grow(added: readonly Turn[]): void {
    this.#characters += countTextCharacters(added);
    this.#turns = [...this.#turns, ...added];
    this.#cite = citeSources(this.#sources);
  }

  async #finish(stopReason: InferenceReply['stopReason'], { stopSequence, stopDetail }: Partial<InferenceReply>): Promise<void> {
    if (this.#isOver) return;
    const models = this.#entries.filter(({ toolUsage }) => toolUsage === undefined);
    const summed = sumUsage(models.map(({ usage }) => usage));
    const { webSearches: searches = 0 } = this.#toolUsage;
    const usage = searches === 0 ? summed : { ...summed, webSearches: (summed.webSearches ?? 0) + searches };
    const serviceTier = models.at(-1)?.serviceTier;
    this.#end('finished');
    await this.#loop.reply.finish([
      ...this.#shown.release(),
      this.#usage.end(usage, serviceTier),
      {
        type: 'finished',
        stopReason,
        ...(stopSequence === undefined ? {} : { stopSequence }),
        ...(stopDetail === undefined ? {} : { stopDetail }),
      },
    ]);
  }

  /** Ends the call with an error in the client's dialect. */
  #fail(error: GatewayError): void {
    if (this.#isOver) return;
    const { sink, prepared } = this.#loop;
    const hasContent = sink.hasBegun || this.#entries.some(({ end }) => end !== 'failed');
    if (!sink.hasBegun) for (const [name, value] of Object.entries(prepared.taken?.headers ?? {})) sink.setHeader(name, value);
    this.#end(hasContent ? 'cut' : 'failed', error);
    this.#loop.reply.fail(error);
  }

  /**
   * Closes the books of the call. Its rows are already written. It is reported as one call, and its limits are settled.
   */
  #end(end: 'finished' | 'client-left' | 'cut' | 'failed', error?: GatewayError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort.abort(new Error('the call is over'));
    closeTools(this.#loop.offered);
    const { call, startedMs, taken, credit, report } = this.#loop.prepared;
    credit?.end();
    if (this.#usedTokens > 0) taken?.reservation.settle(this.#usedTokens);
    else taken?.reservation.finish();
    const durationMs = Math.round(this.#gateway.clock.monotonicMs() - startedMs);
    const entry = mergeEntries(this.#entries, { callId: call.callId, end, durationMs });
    if (entry !== undefined) report.settled(entry, error);
    else if (error !== undefined) report.refused(error);
    else report.ended(end, undefined);
  }

  /**
   * Handles a disconnect: no tool and no further round starts. Resolves when the call is over; a drained round delays
   * that.
   */
  async #leave(): Promise<void> {
    if (this.#isOver) return;
    this.#abort.abort(new Error('the client disconnected'));
    // A running round reports its end. Between rounds nothing does.
    this.#round?.leave();
    await this.#round?.outcome;
    this.#endEarly();
  }

  #endEarly(): void {
    if (this.#ending === undefined) this.#end('client-left');
    else this.#fail(this.#ending);
  }

  #endBroken(error: unknown): void {
    const { callId } = this.#loop.prepared.call;
    if (!(error instanceof GatewayError)) this.#gateway.logger.error({ callId, err: error }, 'tool loop failed');
    const refusal = error instanceof GatewayError ? error : internalError(callId);
    if (!this.#isOver) return this.#fail(refusal);
    // The books are closed already, but the client still waits.
    this.#loop.reply.fail(refusal);
  }

  check(nowMs: number): void {
    const { prepared, reply, sink } = this.#loop;
    const [target] = this.#targets;
    if (target === undefined) return;
    const timeouts = timeoutsOf(target, true, prepared.settings.timeouts);
    if (this.#isOver) return this.#limitReader(timeouts.stalledReaderMs);
    if (nowMs >= prepared.startedMs + timeouts.totalMs)
      return this.terminate(upstreamTimeout(target, 'end of the reply', timeouts.totalMs));
    if (this.#pausedSinceMs === undefined) reply.beat(nowMs, timeouts.heartbeatMs);
    else if (nowMs - this.#pausedSinceMs >= timeouts.stalledReaderMs) sink.destroy();
  }

  /** Limits how long a client may leave the end of its reply unread, because the end stays in memory. */
  #limitReader(stalledReaderMs: number): void {
    const { sink } = this.#loop;
    if (this.#isReaderLimited || sink.isDelivered || sink.isGone) return;
    this.#isReaderLimited = true;
    sink.limitReader(stalledReaderMs);
  }

  readonly bookedInParts = (): string | undefined => (this.#isOver ? undefined : this.#loop.prepared.call.callId);
  terminate(error: GatewayError): void {
    if (this.#isOver) return;
    this.#ending ??= error;
    this.#abort.abort(error);
    // A running round is charged for its usage so far.
    this.#round?.stop(error);
    void this.#round?.outcome.then(() => this.#endEarly());
  }
}
