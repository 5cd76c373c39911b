import { endCodes } from '../../../../billing/calls/call-fact.ts';
import type { Database } from '../../database.ts';
import { dayBounds, dayStart, readDailySums } from '../../day-zone.ts';
import { readFollowState } from '../../facts/follow-calls.ts';
import { readBytes, readInteger } from '../../read-column.ts';
import type { ValueRow } from '../../sql-values.ts';
import { nanoUsdPerKusd } from '../../wide-amount.ts';
import { callForm, decodePack, encodePack, type Pack, toBigInt } from '../pack.ts';
import { type MergedPack, mergePacks } from './merge-packs.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const hourMinutes = 60;
/** An hour is packed this long after its end: most calls that were accepted in it have ended by then. */
const graceMs = 10 * minuteMs;
/** An hour with more calls is added up minute by minute: a booking waits for one step. */
const callsAtOnce = 20_000;
/** The most hours and days of one step. */
const packsOfStep = 24;
/** Another process that is adding up an hour is believed dead after this time. */
const abandonedMs = 120_000;

/** An hour that is being added up minute by minute. */
type Work = { readonly number: number; readonly atMinute: number; readonly parts: readonly Pack[] };
type Seen = { readonly number: number; readonly sinceMs: number };
type Outcome = { readonly isDone: boolean; readonly work?: Work | undefined; readonly seen?: Seen | undefined };

/**
 * Packs hours and days of call_facts: see takeCallPacks. Hours with late calls come first, then new ones,
 * then old ones, the newest first, and days last.
 */
export class CallPacker {
  readonly #callsAtOnce: number;
  #work: Work | undefined;
  #seen: Seen | undefined;

  /** @param callsMax calls of one step; an hour with more takes a step for each minute */
  constructor(callsMax = callsAtOnce) {
    this.#callsAtOnce = callsMax;
  }

  /** One step. See UsageDays. */
  async step(database: Database, nowMs: number): Promise<'more' | 'done'> {
    const before = { work: this.#work, seen: this.#seen };
    if (!(await new PackStep(database, await readFollowState(database), { nowMs, callsAtOnce: this.#callsAtOnce }).isNeeded()))
      return 'done';
    const { work, seen, isDone } = await database.transact(async (transaction) => {
      // Facts are written under this lock, so that no hour changes while it is added up.
      await transaction.first(`select id from call_follow where id = 1 ${transaction.fragments.forUpdate('call_follow')}`);
      const step = new PackStep(transaction, await readFollowState(transaction), { nowMs, callsAtOnce: this.#callsAtOnce });
      const outcome = await step.run(before);
      await step.writeState();
      return outcome;
    }, 'read-committed');
    this.#work = work;
    this.#seen = seen;
    return isDone ? 'done' : 'more';
  }
}

type FollowState = Awaited<ReturnType<typeof readFollowState>>;
type Hour = { readonly fromMinute: number; readonly number: number };
type Day = { readonly from: number; readonly until: number };

class PackStep {
  readonly #database: Database;
  readonly #nowMs: number;
  readonly #callsAtOnce: number;
  readonly #positions: FollowState['positions'];
  #fromMs: number;
  #untilMs: number;
  #zone: string;
  #lastPack: number;
  /** Whether the follower is still at calls from before there were facts. */
  #hasOld: boolean | undefined;

  constructor(
    database: Database,
    state: FollowState,
    { nowMs, callsAtOnce: most }: { readonly nowMs: number; readonly callsAtOnce: number },
  ) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#callsAtOnce = most;
    this.#positions = state.positions;
    this.#fromMs = state.packedFromMs;
    this.#untilMs = state.packedUntilMs;
    this.#zone = state.packedZone;
    this.#lastPack = state.lastPack;
  }

  /** Whether there could be something to do: without locks, as there nearly never is. */
  async isNeeded(): Promise<boolean> {
    if (this.#untilMs === 0 || (await this.#listUnfinished(1)).length > 0 || (await this.#claimHour()) !== undefined) return true;
    return (await this.#listDays(1)).length > 0;
  }

  async run({ work, seen }: Omit<Outcome, 'isDone'>): Promise<Outcome> {
    const unfinished = await this.#listUnfinished(packsOfStep);
    const begun = unfinished.find(({ number }) => number === work?.number);
    if (begun !== undefined && work !== undefined) return { isDone: false, work: await this.#goOn(begun, work) };
    // Quiet hours share a step, because a commit costs more than they do.
    for (let left = this.#callsAtOnce, packs = 0; packs < packsOfStep; packs += 1) {
      const hour = unfinished[packs] ?? (await this.#claimHour());
      if (hour === undefined) return { isDone: packs === 0 && !(await this.#packDays()) };
      const sinceMs = seen?.number === hour.number ? seen.sinceMs : this.#nowMs;
      if (hour.number < 0 && this.#nowMs - sinceMs < abandonedMs) return { isDone: packs === 0, seen: { number: hour.number, sinceMs } };
      const calls = await this.#countCalls(hour);
      left -= calls;
      if (packs > 0 && left < 0) {
        // Its row says that it is not added up.
        if (hour.number >= 0) await this.#write(hourPlace(hour), 0, noSums);
        return { isDone: false };
      }
      if (calls > this.#callsAtOnce) return { isDone: false, work: await this.#begin(hour) };
      await this.#write(hourPlace(hour), this.#takeNumber(), mergePacks([await this.#addUp(hourPlace(hour))], false));
    }
    return { isDone: false };
  }

  async writeState(): Promise<void> {
    const sql = 'update call_follow set packed_from_ms = ?, packed_until_ms = ?, packed_zone = ?, last_pack = ? where id = 1';
    await this.#database.run(sql, this.#fromMs, this.#untilMs, this.#zone, this.#lastPack);
  }

  async #listUnfinished(most: number): Promise<readonly Hour[]> {
    const sql = 'select from_minute, number from call_packs where number <= 0 order by from_minute desc limit ?';
    const rows = await this.#database.all(sql, most);
    return rows.map((row) => ({ fromMinute: readInteger(row, 'from_minute'), number: readInteger(row, 'number') }));
  }

  /**
   * The next hour that has calls and no row, which its caller must write: hours with calls have a row if they lie
   * between the bounds, which move here.
   */
  async #claimHour(): Promise<Hour | undefined> {
    const endMs = Math.floor((this.#nowMs - graceMs) / hourMs) * hourMs;
    if (this.#untilMs === 0) [this.#fromMs, this.#untilMs] = [endMs, endMs];
    if (this.#untilMs < endMs) {
      const sql = 'select min(at_ms) as at_ms from call_facts where at_ms >= ? and at_ms < ?';
      const nextMs = hourOf(await this.#database.first(sql, this.#untilMs, endMs));
      this.#untilMs = nextMs === undefined ? endMs : nextMs + hourMs;
      if (nextMs !== undefined) return { fromMinute: nextMs / minuteMs, number: 0 };
    }
    // Calls from before there were facts arrive in any order; each would have its hour added up again.
    this.#hasOld ??= (await this.#database.newCalls.measure(this.#database, this.#positions)).old > 0;
    if (this.#fromMs <= 0 || this.#hasOld) return undefined;
    const last = await this.#database.first('select max(at_ms) as at_ms from call_facts where at_ms >= 0 and at_ms < ?', this.#fromMs);
    const lastMs = hourOf(last);
    this.#fromMs = lastMs ?? 0;
    return lastMs === undefined ? undefined : { fromMinute: lastMs / minuteMs, number: 0 };
  }

  #takeNumber(): number {
    this.#lastPack += 1;
    return this.#lastPack;
  }

  async #write({ kind, from, until }: PackPlace, number: number, { form, bytes }: MergedPack): Promise<void> {
    const sql = `insert into call_packs (kind, from_minute, until_minute, number, form, sums) values (?, ?, ?, ?, ?, ?)
      on conflict (kind, from_minute) do update set until_minute = excluded.until_minute, number = excluded.number,
        form = excluded.form, sums = excluded.sums`;
    await this.#database.run(sql, kind, from, until, number, form, bytes);
  }

  /** The calls of an hour, or one more than a step adds up. */
  async #countCalls(hour: Hour): Promise<number> {
    const { from, until } = hourPlace(hour);
    const sql = 'select count(*) as calls from (select 1 as one from call_facts where at_ms >= ? and at_ms < ? limit ?) as counted';
    const row = await this.#database.first(sql, from * minuteMs, until * minuteMs, this.#callsAtOnce + 1);
    return row === undefined ? 0 : readInteger(row, 'calls');
  }

  async #begin(hour: Hour): Promise<Work> {
    const number = -this.#takeNumber();
    await this.#write(hourPlace(hour), number, noSums);
    return { number, atMinute: hour.fromMinute, parts: [] };
  }

  /** Adds up one minute. The work that is left, if any. */
  async #goOn(hour: Hour, { number, atMinute, parts: before }: Work): Promise<Work | undefined> {
    const place = hourPlace(hour);
    const parts = [...before, await this.#addUp({ from: atMinute, until: atMinute + 1 })];
    if (atMinute + 1 < place.until) return { number, atMinute: atMinute + 1, parts };
    await this.#write(place, this.#takeNumber(), mergePacks(parts, false));
    return undefined;
  }

  /** The sums of single calls, in the form of a pack. */
  async #addUp({ from, until }: Day): Promise<Pack> {
    const rows = await this.#database.rows(addUpFacts, from * minuteMs, until * minuteMs);
    const packed = rows.map((row): ValueRow => {
      const amount = toBigInt(row[kusdAt]) * nanoUsdPerKusd + toBigInt(row[kusdAt + 1]);
      return [...row.slice(0, names.length).map(Number), ...row.slice(names.length, kusdAt), amount, ...row.slice(kusdAt + 2)];
    });
    return decodePack(callForm, encodePack(callForm, packed));
  }

  /** The newest days that have calls and no pack, and that are over; in minutes since 1970. */
  async #listDays(most: number): Promise<readonly Day[]> {
    const { zone } = await readDailySums(this.#database);
    const rows = zone === this.#zone ? await this.#database.all(selectDays) : [];
    const known = rows.map((row) => ({ from: readInteger(row, 'from_minute'), until: readInteger(row, 'until_minute') }));
    const found: Day[] = [];
    for (let bound = dayStart(this.#untilMs, zone) / minuteMs, place = 0; found.length < most;) {
      const last = await this.#database.first(
        'select max(from_minute) as minute from call_packs where kind = 0 and from_minute < ?',
        bound,
      );
      if (last === undefined || last['minute'] === null) break;
      const minute = readInteger(last, 'minute');
      while ((known[place]?.from ?? -Infinity) > minute) place += 1;
      const day = known[place];
      const [from = 0, until = 0] =
        day !== undefined && day.until > minute
          ? [day.from, day.until]
          : dayBounds(minute * 60, minute * 60 + 1, zone).map((second) => second / 60);
      if (from * minuteMs < this.#fromMs) break;
      if (day?.from !== from) found.push({ from, until });
      bound = from;
    }
    return found;
  }

  /** @returns whether there was a day to pack */
  async #packDays(): Promise<boolean> {
    const { zone } = await readDailySums(this.#database);
    const days = await this.#listDays(packsOfStep);
    if (zone !== this.#zone) await this.#database.run('delete from call_packs where kind = 1');
    this.#zone = zone;
    for (const day of days) await this.#packDay(day);
    return days.length > 0;
  }

  async #packDay(day: Day): Promise<void> {
    const [fromHour, untilHour] = [Math.ceil(day.from / hourMinutes) * hourMinutes, Math.floor(day.until / hourMinutes) * hourMinutes];
    const sql = 'select form, sums from call_packs where kind = 0 and from_minute >= ? and from_minute < ?';
    const hours = (await this.#database.all(sql, fromHour, untilHour)).map((row) => ({
      form: readInteger(row, 'form'),
      bytes: readBytes(row, 'sums'),
    }));
    const packs = hours.filter(({ form }) => form < 2).map(({ bytes }) => decodePack(callForm, bytes));
    // A time zone may cut hours.
    for (const [from, until] of [
      [day.from, fromHour],
      [untilHour, day.until],
    ] as const)
      if (from < until) packs.push(await this.#addUp({ from, until }));
    const isTooLarge = hours.some(({ form }) => form === 2);
    const merged = isTooLarge
      ? ({ form: 2, bytes: new Uint8Array() } as const)
      : mergePacks(
          packs,
          hours.some(({ form }) => form === 1),
        );
    await this.#write({ kind: 1, ...day }, this.#takeNumber(), merged);
  }
}

const selectDays = 'select from_minute, until_minute from call_packs where kind = 1 order by from_minute desc';
const noSums: MergedPack = { form: 0, bytes: new Uint8Array() };

/** 0: an hour, 1: a day; from and until in minutes since 1970. */
type PackPlace = Day & { readonly kind: 0 | 1 };
const hourPlace = ({ fromMinute }: Hour): PackPlace => ({ kind: 0, from: fromMinute, until: fromMinute + hourMinutes });

function hourOf(row: Awaited<ReturnType<Database['first']>>): number | undefined {
  return row === undefined || row['at_ms'] === null ? undefined : Math.floor(readInteger(row, 'at_ms') / hourMs) * hourMs;
}

const ifBilled = (column: string): string => `sum(case when billed in (1, 2) then ${column} else 0 end)`;
const countEnds = (end: string): string => `sum(case when parent_id is null ${end} then 1 else 0 end)`;
const names = Object.values(callForm.names);
const addUpFacts = `select ${names.join(', ')}, ${['prompt_tokens', 'completion_tokens', 'cache_tokens', 'cache_creation_tokens', 'use_time_ms'].map(ifBilled).join(', ')},
    sum(case when billed = 1 then 1 else 0 end), ${ifBilled(`amount_nano_usd / ${nanoUsdPerKusd}`)}, ${ifBilled(`amount_nano_usd % ${nanoUsdPerKusd}`)},
    ${countEnds('')}, ${countEnds(`and end_code = ${endCodes.failed}`)}, ${countEnds(`and end_code = ${endCodes.cut}`)}
  from call_facts where at_ms >= ? and at_ms < ? group by ${names.join(', ')}`;
const kusdAt = callForm.sums.indexOf('amount_nano_usd') + names.length;
