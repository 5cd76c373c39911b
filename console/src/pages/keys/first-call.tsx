import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { isAllowed } from '../../components/limits/limits-draft.ts';
import { useSession } from '../../components/use-page.ts';
import { CodeLine } from '../../ui/copy.tsx';
import { SelectField } from '../../ui/field.tsx';

const languages = [
  { value: 'curl', text: 'curl' },
  { value: 'python', text: 'Python' },
  { value: 'typescript', text: 'TypeScript' },
  { value: 'go', text: 'Go' },
] as const;
/** Without a bound, the most that a model may write is held: more than most limits of a key. */
const outputTokensMax = 200;
type Language = (typeof languages)[number]['value'];

/** Lines for a first call with a new key: they work where they are pasted, with a model that the key may call. */
export function FirstCall({ made: { secret, user, limits } }: { readonly made: Reply<'keys.create'> }) {
  const mayAsk = may(useSession(), 'playground:use');
  const [language, setLanguage] = useState<Language>('curl');
  const models = useQuery({ ...question('playground.models', { query: { user } }), enabled: mayAsk });
  // Without a list a key may call all models.
  const mayCall = (name: string): boolean => limits.models === null || isAllowed(limits.models, name);
  const chats = models.data?.items.filter(({ name, kinds }) => kinds.includes('chat') && mayCall(name));
  const model = chats?.[0]?.name;
  const body = { model: model ?? '', max_completion_tokens: outputTokensMax, messages: [{ role: 'user', content: 'Hello' }] };
  const snippet = useQuery({
    ...question('playground.snippet', { body: { method: 'POST', path: '/v1/chat/completions', body } }),
    enabled: model !== undefined,
  });
  const text = snippet.data?.[language];
  return (
    <>
      <CodeLine text={`export WEIR_API_KEY=${secret}`} label="Line of a shell" />
      {text != null && (
        <>
          <SelectField
            label="A first call"
            value={language}
            options={languages}
            onChange={(value) => setLanguage(languages.find((each) => each.value === value)?.value ?? 'curl')}
          />
          <CodeLine text={text} label="A first call" />
        </>
      )}
    </>
  );
}
