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
import { askForRepair, describeMisfit, HeldText } from './check-reply.ts';
import { ReplyChecks } from './reply-checks.ts';
import { citeSources } from './cite-sources.ts';
import { limitOutput } from './limit-output.ts';
import { isFound } from './gather-addresses.ts';
import { answererFirst, bookTools, mergeEntries, sumUsage } from './loop-books.ts';
import { internalError, replyTooLarge } from './loop-errors.ts';
import { isTooDear, lacksCredit, lacksToolCredit } from './loop-credit.ts';
import type { LoopCall } from './loop-call.ts';
import { LoopUsage } from './loop-usage.ts';
import { closeTools, offerTools, type RoundOffer } from './offer-tools.ts';
import { type Round, type RoundOutcome, runRound } from './run-round.ts';
import { nextSource, readToolCall, runTools, sumToolUsage, type ToolCall, type ToolReturn } from './run-tools.ts';
import { ShownReply } from './show-round.ts';
import { showTools } from './show-tools.ts';

const creditSpent = 'the credit for this call is used up';

/**
 * One call whose model uses tools that the gateway runs: it is asked, its calls are run, it is asked again with what they brought, until it
 * answers. The client sees one reply; each time that the model is asked is a round with attempts and a row of its own.
 */
export class ToolLoop implements RunningCall {
  readonly #gateway: ChatServices;
  readonly #loop: LoopCall;
  readonly #shown: ShownReply;
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
  /** What the conversation has grown by, in characters. */
  #characters = 0;
  /** What the model has written. */
  #written = 0;
  /** The events of the round under way. */
  #events: InferenceEvent[] = [];
  #usedTokens = 0;
  #toolUsage: ToolUsage = {};
  /** What tools have booked in rows of their own. */
  #toolsNanoUsd = 0n;
  #pausedSinceMs: number | undefined;
  readonly #usage = new LoopUsage();
  /** Set when the call is ended from outside. */
  #ending: GatewayError | undefined;
  #isOver = false;
  #isReaderLimited = false;

  constructor(gateway: ChatServices, loop: LoopCall) {
    this.#gateway = gateway;
    this.#loop = loop;
    this.#shown = new ShownReply(loop.offered);
    this.#heldText = new HeldText(loop.check !== undefined);
    this.#checks = new ReplyChecks(gateway, loop, this.#abort.signal);
    this.#cite = citeSources(this.#sources);
    this.#turns = loop.request.turns;
    this.#targets = loop.known.targets;
  }

  /**
   * Resolves when the model is being asked for the first time; the loop goes on by itself then and ends the call.
   * @throws GatewayError when it cannot be asked; nothing was spent then
   */
  async start(): Promise<void> {
    const { deadlines } = this.#gateway;
    const { sink } = this.#loop;
    const round = this.#ask('as-asked');
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
      if (outcome.end === 'failed') return this.#fail(outcome.error ?? internalError(this.#loop.known.call.callId));
      const reply = foldEvents(this.#events);
      const calls = this.#readCalls(reply);
      const problems = calls.length > 0 ? undefined : await this.#checks.findProblems(reply);
      // A check that is given up ends the call.
      if (problems === 'given-up') return;
      const held = this.#heldText.release();
      if (problems !== undefined) {
        if (!this.#checks.takeRepair() || this.#isTooDear() || this.#isWrittenOut()) return this.#fail(describeMisfit(problems));
        this.#grow(askForRepair(reply, problems));
        if (await this.#lacksCredit()) return this.#fail(describeMisfit(problems));
        if (this.#isOver) return;
        round = this.#ask('withheld');
        continue;
      }
      this.#push(held.flatMap((event) => this.#shown.show(event)));
      if (calls.length === 0) return await this.#finish(reply.stopReason, reply);
      if (this.#isLastRound()) return await this.#finish('output-limit', { stopDetail: 'the bound of tool rounds is reached' });
      if (await lacksToolCredit(this.#loop.known, calls)) return await this.#finish('output-limit', { stopDetail: creditSpent });
      const returns = await this.#runTools(calls);
      if (this.#isOver) return;
      const callsClient = reply.parts.some((part) => part.kind === 'tool-call' && !this.#loop.offered.has(part.name));
      this.#push(this.#shown.release());
      if (callsClient) return await this.#finish('tool-calls', {});
      if (this.#isTooDear()) return await this.#finish('output-limit', { stopDetail: 'the bound of what a call may cost is reached' });
      if (this.#isWrittenOut()) return await this.#finish('output-limit', {});
      this.#remember(reply, returns);
      if (await this.#lacksCredit()) return await this.#finish('output-limit', { stopDetail: creditSpent });
      // Its client may have left while the store was asked.
      if (this.#isOver) return;
      round = this.#ask(this.#isLastRound(1) || this.#runs >= this.#loop.runsMax ? 'withheld' : 'freely');
    }
  }

  #ask(offer: RoundOffer): Round {
    const { known, offered } = this.#loop;
    const { callId } = known.call;
    const request = limitOutput(this.#loop.request, this.#entries) ?? this.#loop.request;
    const deliveredBefore = this.#loop.reply.deliveredCharacters;
    this.#rounds += 1;
    this.#events = [];
    this.#usage.beginRound();
    // Where nothing is offered there is nothing to withhold.
    const isFirst = this.#rounds === 1;
    const isWithheld = offered.size > 0 && (offer === 'withheld' || this.#isLastRound());
    this.#round = runRound(
      this.#gateway,
      known,
      {
        request: offerTools({ ...request, turns: this.#turns }, offered, isWithheld ? 'withheld' : offered.size > 0 ? offer : 'as-asked'),
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
        givenUp: () => this.#loop.sink.destroy(),
        used: (tokens) => (this.#usedTokens += tokens),
        delivered: () => this.#loop.reply.deliveredCharacters - deliveredBefore,
      },
    );
    return this.#round;
  }

  #isLastRound(ahead = 0): boolean {
    return this.#rounds + ahead >= this.#loop.settings.roundsMax;
  }

  /** Whether the model has written as much as the client allows for the whole reply. */
  readonly #isWrittenOut = (): boolean => limitOutput(this.#loop.request, this.#entries) === undefined;

  readonly #isTooDear = (): boolean => isTooDear(this.#loop.settings.costMaxNanoUsd, this.#entries, this.#toolsNanoUsd);

  #lacksCredit(): Promise<boolean> {
    return lacksCredit(this.#loop.known, {
      request: { ...this.#loop.request, turns: this.#turns },
      facts: this.#nextFacts(),
      targets: this.#targets,
    });
  }

  #nextFacts(): CallFacts {
    const { facts } = this.#loop.known;
    return { ...facts, inputCharacters: facts.inputCharacters + this.#characters };
  }

  /** Reads what the model says, and shows it. False when the client does not keep up. */
  #read(events: readonly InferenceEvent[]): boolean {
    if (this.#isOver) return true;
    const shown: InferenceEvent[] = [];
    for (const event of events) {
      this.#events.push(event);
      if (event.type === 'usage') shown.push(this.#usage.read(event.usageReport));
      if (event.type === 'delta') this.#written += event.text.length;
      for (const passed of this.#heldText.pass(event)) shown.push(...this.#shown.show(passed));
    }
    const { replyBytesMax } = this.#loop.known.settings.limits;
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

  /** What a round cost, and who answered it: the next one goes there first, for its cache and its proofs. */
  #learn({ entry }: RoundOutcome): void {
    if (entry === undefined) return;
    this.#entries.push(entry);
    this.#targets = answererFirst(this.#targets, entry);
  }

  #readCalls(reply: InferenceReply): readonly ToolCall[] {
    // Arguments that were cut are no call.
    if (reply.stopReason !== 'tool-calls' && reply.stopReason !== 'end') return [];
    return reply.parts.flatMap((part) => {
      const tool = part.kind === 'tool-call' ? this.#loop.offered.get(part.name) : undefined;
      return tool === undefined || part.kind !== 'tool-call' ? [] : [readToolCall(part, tool)];
    });
  }

  /** Runs the tools of a turn and shows each in its place, as soon as those before it are done. */
  async #runTools(calls: readonly ToolCall[]): Promise<readonly ToolReturn[]> {
    const { settings, runsMax, known } = this.#loop;
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
          onPartialImage: known.framing === undefined ? undefined : onPartialImage,
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
    const rowId = toolsRowId(known.call.callId, this.#rounds);
    const durationMs = Math.round(this.#gateway.clock.monotonicMs() - startedMs);
    this.#entries.push(bookTools(this.#gateway, known, { rowId, usage, durationMs }));
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

  /** Ends the call with an error, in the words of the client's dialect. */
  #fail(error: GatewayError): void {
    if (this.#isOver) return;
    const { sink, known } = this.#loop;
    const hasContent = sink.hasBegun || this.#entries.some(({ end }) => end !== 'failed');
    if (!sink.hasBegun) for (const [name, value] of Object.entries(known.taken?.headers ?? {})) sink.setHeader(name, value);
    this.#end(hasContent ? 'cut' : 'failed', error);
    this.#loop.reply.fail(error);
  }

  /** Closes the books of the call. Its rows are written already; here it is told as one, and what it took is settled. */
  #end(end: 'finished' | 'client-left' | 'cut' | 'failed', error?: GatewayError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#abort.abort(new Error('the call is over'));
    closeTools(this.#loop.offered);
    const { call, startedMs, taken, credit, report } = this.#loop.known;
    credit?.end();
    if (this.#usedTokens > 0) taken?.reservation.settle(this.#usedTokens);
    else taken?.reservation.finish();
    const durationMs = Math.round(this.#gateway.clock.monotonicMs() - startedMs);
    const entry = mergeEntries(this.#entries, { callId: call.callId, end, durationMs });
    if (entry !== undefined) report.settled(entry, error);
    else if (error !== undefined) report.refused(error);
    else report.ended(end, undefined);
  }

  /** The client has left: no tool runs on, and no further round begins. Resolves when the call is over, which a round that is read on puts off. */
  async #leave(): Promise<void> {
    if (this.#isOver) return;
    this.#abort.abort(new Error('the client has left'));
    // A round that runs tells of its end; between rounds nobody does.
    this.#round?.leave();
    await this.#round?.outcome;
    this.#endEarly();
  }

  #endEarly(): void {
    if (this.#ending === undefined) this.#end('client-left');
    else this.#fail(this.#ending);
  }

  #endBroken(error: unknown): void {
    const { callId } = this.#loop.known.call;
    if (!(error instanceof GatewayError)) this.#gateway.logger.error({ callId, err: error }, 'a tool loop broke: a defect');
    const told = error instanceof GatewayError ? error : internalError(callId);
    if (!this.#isOver) return this.#fail(told);
    // Its books are closed already, and its client still waits.
    this.#loop.reply.fail(told);
  }

  check(nowMs: number): void {
    const { known, reply, sink } = this.#loop;
    const [target] = this.#targets;
    if (target === undefined) return;
    const timeouts = timeoutsOf(target, true, known.settings.timeouts);
    if (this.#isOver) return this.#limitReader(timeouts.stalledReaderMs);
    if (nowMs >= known.startedMs + timeouts.totalMs) return this.terminate(upstreamTimeout(target, 'end of the reply', timeouts.totalMs));
    if (this.#pausedSinceMs === undefined) reply.beat(nowMs, timeouts.heartbeatMs);
    else if (nowMs - this.#pausedSinceMs >= timeouts.stalledReaderMs) sink.destroy();
  }

  /** A client that does not read the end of its reply would hold it in memory for as long as it likes. */
  #limitReader(stalledReaderMs: number): void {
    const { sink } = this.#loop;
    if (this.#isReaderLimited || sink.isDelivered || sink.isGone) return;
    this.#isReaderLimited = true;
    sink.limitReader(stalledReaderMs);
  }

  readonly bookedInParts = (): string | undefined => (this.#isOver ? undefined : this.#loop.known.call.callId);
  terminate(error: GatewayError): void {
    if (this.#isOver) return;
    this.#ending ??= error;
    this.#abort.abort(error);
    // A round that is running is charged for what it used until now.
    this.#round?.stop(error);
    void this.#round?.outcome.then(() => this.#endEarly());
  }
}
