/**
 * How calls are shared among targets of one priority. `conversation`: all calls of a conversation go to one target as long as it is healthy, so that
 * the vendor's prompt cache keeps working; conversations are spread by weight. `least-loaded`: to the one with the fewest calls under way for its
 * weight. `random`: each call for itself, by weight.
 */
export type Balance = 'conversation' | 'least-loaded' | 'random';

/**
 * Where the conversations of stored responses are kept. `auto`: at the upstream as long as a conversation stays with one that keeps it, and in the
 * gateway's own copy; `gateway`: in that copy alone, upstreams keep nothing; `upstream`: at the upstream alone.
 */
export type ResponseState = 'auto' | 'gateway' | 'upstream';

/**
 * Who ends replies at stop sequences where the upstream does not say that it did. `upstream`: it does, and what it says is answered; `gateway`: it
 * is not told of them, and the reply is cut here.
 */
export type StopSequences = 'upstream' | 'gateway';
