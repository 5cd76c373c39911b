import type { InferenceReply } from '../../../../inference/inference-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import type { SchemaVerdict } from '../schema-check/schema-checker.ts';
import { checkReply, noteUnchecked } from './check-reply.ts';
import type { LoopCall } from './loop-call.ts';

/** The checks of one call's replies. What cannot be checked is told to the client and logged: such a reply stands, and nobody says that it fits. */
export class ReplyChecks {
  readonly #logger: ChatServices['logger'];
  readonly #loop: Pick<LoopCall, 'check' | 'reply' | 'known'>;
  readonly #signal: AbortSignal;
  #isRepaired = false;

  constructor({ logger }: Pick<ChatServices, 'logger'>, loop: Pick<LoopCall, 'check' | 'reply' | 'known'>, signal: AbortSignal) {
    this.#logger = logger;
    this.#loop = loop;
    this.#signal = signal;
  }

  /** Has the schema compiled while the model is asked: the check takes no time then, and what cannot be checked is known before the reply begins. */
  prepare(): void {
    const { check } = this.#loop;
    if (check === undefined) return;
    const { checker, schema, tenant } = check;
    checker.prepare(schema, { tenant, signal: this.#signal }).then(
      (verdict) => this.#tell(verdict),
      (error: unknown) => {
        if (!this.#signal.aborted) this.#logger.error({ err: error }, 'preparing the check of a reply failed unexpectedly (bug)');
      },
    );
  }

  /**
   * What is wrong with a reply. Undefined for one that fits, that could not be checked, or that is no whole answer; `given-up` where the call is ended
   * meanwhile.
   */
  async findProblems(reply: InferenceReply): Promise<readonly string[] | 'given-up' | undefined> {
    const { check } = this.#loop;
    if (check === undefined) return undefined;
    try {
      const verdict = await checkReply(check, reply, this.#signal);
      if (verdict !== undefined) this.#tell(verdict);
      return verdict?.kind === 'fails' ? verdict.problems : undefined;
    } catch (error) {
      if (this.#signal.aborted) return 'given-up';
      throw error;
    }
  }

  /** Whether the model may be asked for its answer once more: once in a call. */
  takeRepair(): boolean {
    const mayAsk = this.#loop.check?.repairs === true && !this.#isRepaired;
    this.#isRepaired = true;
    return mayAsk;
  }

  #tell(verdict: SchemaVerdict): void {
    const { check, reply, known } = this.#loop;
    if (check === undefined || verdict.kind !== 'unchecked' || this.#signal.aborted) return;
    const { reason } = verdict;
    if (!reply.note(noteUnchecked(check, reason))) return;
    const { callId } = known.call;
    this.#logger.warn({ callId, user: check.tenant, reason }, 'a reply was not checked against the schema that its client asked for');
  }
}
