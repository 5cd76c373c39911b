import type { Reply } from '../../api/client.ts';
import type { Session } from '../../api/sign-in.ts';
import { type Place, paths } from '../../paths.ts';

/** What the server answers, from which the steps are derived. */
export type Facts = {
  readonly overview: Pick<Reply<'overview.get'>, 'month' | 'last_day'>;
  readonly keys: { readonly items: readonly Pick<Reply<'keys.list'>['items'][number], 'is_playground'>[] };
  readonly upstreams: Pick<Reply<'upstreams.list'>, 'items'>;
  readonly standings: Pick<Reply<'standing.list'>, 'total'>;
  readonly config: Pick<Reply<'config.get'>, 'fields'>;
  readonly person: Session['person'];
};

export type Step = { readonly text: string; readonly why: string; readonly place: Place; readonly isDone: boolean };

/**
 * The first steps of an installation. Whether one is done is a fact of the server, never of a click: a step that was
 * undone is open again. The start makes one key by itself, and the playground makes some: a second one of another kind
 * is of a person.
 */
export function stepsOf({ overview, keys, upstreams, standings, config, person }: Facts): readonly Step[] {
  return [
    {
      text: 'Make a first call',
      why: 'in the playground, without a key or a line of code',
      place: { to: paths.playground },
      isDone: overview.month.calls > 0 || overview.last_day.calls > 0,
    },
    {
      text: 'Connect a vendor',
      why: 'until then simulated vendors answer, at no cost',
      place: { to: paths.upstreams, search: { add: '1' } },
      isDone: upstreams.items.some(({ is_simulated: isSimulated }) => !isSimulated),
    },
    {
      text: 'Make a key for an application or a colleague',
      why: 'its calls stand under its name, and it can be ended alone',
      place: { to: paths.keys, search: { new: '1' } },
      isDone: keys.items.filter(({ is_playground: isPlayground }) => !isPlayground).length > 1,
    },
    {
      text: 'Set a spend limit',
      why: 'a call that could exceed it is refused before it is sent',
      place: { to: paths.users },
      isDone: standings.total > 0,
    },
    {
      text: 'Get a message when something goes wrong',
      why: 'alerts.channels of weir.yaml: Slack, Teams, e-mail or a webhook',
      place: { to: paths.setting('config'), search: { q: 'alerts' } },
      isDone: config.fields.some(({ path, from }) => path.startsWith('alerts.channels.') && from !== 'default'),
    },
    {
      text: 'Set a password',
      why: 'you sign in again without a link of the server',
      place: { to: paths.setting('you') },
      isDone: person === null || person.has_password,
    },
  ];
}
