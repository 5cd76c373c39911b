import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { question, versionedQuestion } from '../../api/query-client.ts';
import { lacks } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { LayerCheckPart } from '../../components/upstream-check/layer-check.tsx';
import { publicationOf, useLayerCheck } from '../../components/upstream-check/use-layer-check.ts';
import { useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';
import { withKey } from './new-upstream.ts';

/** Gives an upstream of the configuration layers another key, without a restart: what ends a refused credential. */
export function ReplaceKey({ upstream }: { readonly upstream: string }) {
  const session = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const [key, setKey] = useState('');
  const mayWrite = session.permissions.includes('config:write');
  const layers = useQuery({ ...versionedQuestion('config.layers.list', { query: { limit: 1 } }), enabled: mayWrite });
  const newest = layers.data?.body.items[0]?.number;
  const present = useQuery({
    ...question('config.layers.get', { params: { number: String(newest ?? 0) } }),
    enabled: newest !== undefined,
  });
  const changed = withKey(present.data?.layer, upstream, key);
  const shown = withKey(present.data?.layer, upstream, 'THE KEY');
  const check = useLayerCheck({ layer: changed, upstreams: [upstream] });
  const publication = publicationOf(check, 'Publish the key');
  const missing = key === '' ? 'The key is empty.' : undefined;
  const why =
    lacks(session, 'config:write') ??
    (changed === undefined ? 'Its settings are not in a layer: change the key where weir.yaml has it.' : undefined);
  const version = layers.data?.version ?? '"0"';
  const close = (): void => {
    setIsOpen(false);
    setKey('');
  };
  return (
    <>
      <Button disabledBecause={why} onClick={() => setIsOpen(true)}>
        New key …
      </Button>
      {isOpen && changed !== undefined && shown !== undefined && (
        <ChangeDialog
          open
          onClose={close}
          title={`New key of ${upstream}`}
          size="large"
          action={publication.action}
          first={publication.isNext ? undefined : () => void (missing === undefined && check.run())}
          command={`weir config check-layer layer.yaml --no-calls\nweir config publish layer.yaml --note ${quote(`key of ${upstream}`)}`}
          operation="config.layers.publish"
          input={{ body: { layer: changed, note: `key of ${upstream}` }, version }}
          shownInput={{ body: { layer: shown, note: `key of ${upstream}` }, version }}
          forgets={['config', 'upstreams', 'targets', 'overview']}
          disabledBecause={missing ?? publication.disabledBecause}
          onDone={() => say(`The key of ${upstream} is published`, 'Every gateway uses it within two seconds.')}
        >
          {(errors) => (
            <>
              <p>Calls under way are finished with the old key. The new one is sealed, and is never shown again but for its end.</p>
              <TextField
                label="Key"
                type="password"
                autoComplete="off"
                required
                value={key}
                error={errors[`layer.upstreams.${upstream}.apiKey`]}
                onChange={(value) => setKey(value.trim())}
              />
              <LayerCheckPart check={check} disabledBecause={missing} />
            </>
          )}
        </ChangeDialog>
      )}
    </>
  );
}
