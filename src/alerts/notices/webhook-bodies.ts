import { factsOf, type NoticeContent, titleOf } from './notice-content.ts';

/** The body of a signed callback, with the members of our other events. */
export function callbackBody(content: NoticeContent, { id, createdAtMs }: { readonly id: string; readonly createdAtMs: number }): string {
  const { event, rule, subject, period, threshold, severity, summary, action, sinceMs, resolvedAtMs } = content;
  return JSON.stringify({
    id: id.replace(/^msg_/, 'evt_'),
    object: 'event',
    created_at: Math.floor(createdAtMs / 1000),
    type: `alert.${event}`,
    data: {
      rule,
      subject,
      period: period === '' ? null : period,
      threshold: threshold ?? null,
      severity,
      summary,
      action,
      since: new Date(sinceMs).toISOString(),
      resolved_at: resolvedAtMs === undefined ? null : new Date(resolvedAtMs).toISOString(),
    },
  });
}

const slackColors = { info: '#4a90d9', warning: '#e0a800', critical: '#c62828' } as const;
const resolvedColor = '#2e7d32';
/** Slack refuses longer texts (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
const slackCharactersMax = 2900;

/**
 * A message for an incoming webhook of Slack, and of Mattermost and Rocket.Chat, which accept the same form
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
 */
export function slackBody(content: NoticeContent): string {
  const title = escapeSlack(titleOf(content)).slice(0, slackCharactersMax);
  const lines = factsOf(content).map(([name, value]) => `*${name}:* ${escapeSlack(value)}`);
  const color = content.event === 'firing' ? slackColors[content.severity] : resolvedColor;
  return JSON.stringify({
    text: title,
    attachments: [
      {
        color,
        fallback: title,
        blocks: [{ type: 'section', text: { type: 'mrkdwn', text: lines.join('\n').slice(0, slackCharactersMax) } }],
      },
    ],
  });
}

/** Names come from users: without this, one could mention a channel or show a link under another text. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const teamsColors = { info: 'accent', warning: 'warning', critical: 'attention' } as const;

/**
 * An adaptive card for a webhook of Teams Workflows
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
 */
export function teamsBody(content: NoticeContent): string {
  const color = content.event === 'firing' ? teamsColors[content.severity] : 'good';
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      { type: 'TextBlock', text: escapeMarkdown(titleOf(content)), weight: 'bolder', color, wrap: true },
      { type: 'FactSet', facts: factsOf(content).map(([title, value]) => ({ title, value: escapeMarkdown(value) })) },
    ],
  };
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }],
  });
}

/** Names come from users, and cards show Markdown, which includes links. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\*_[\]()`#<>]/g, (character) => `\\${character}`);
}
