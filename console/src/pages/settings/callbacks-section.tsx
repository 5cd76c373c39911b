import { CallbacksTable } from '../../components/callbacks-table.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { InlineSelect } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';

const states = ['', 'waiting', 'delivered', 'given_up'] as const;

/** Events for the addresses of clients; each can be sent again. */
export function CallbacksSection() {
  const [search, change] = useAddress();
  const state = states.find((each) => each === one(search, 'state')) ?? '';
  const options = states.map((value) => ({ value, text: value === '' ? 'in any state' : value.replace('_', ' ') }));
  return (
    <Panel
      title="Callbacks"
      tools={
        <InlineSelect
          label="State"
          value={state}
          options={options}
          onChange={(value) => change({ state: value === '' ? undefined : value })}
        />
      }
    >
      <CallbacksTable query={state === '' ? {} : { state }} />
    </Panel>
  );
}
