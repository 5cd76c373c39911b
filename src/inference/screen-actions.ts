import type { JsonObject } from '../platform/json/json-value.ts';

/** The name under which the tool that steers a screen is carried. It is the one that the Messages interface prescribes. */
export const screenToolName = 'computer';

/**
 * What a model may do with a screen, as arguments of a function: the words of the Messages interface's own tool, since a flat object is
 * what any model can be offered. Dialects with other words translate to and from these.
 */
export const screenToolParameters: JsonObject = {
  type: 'object',
  properties: {
    action: {
      type: 'string',
      enum: [
        'left_click',
        'right_click',
        'middle_click',
        'double_click',
        'triple_click',
        'left_click_drag',
        'mouse_move',
        'key',
        'type',
        'scroll',
        'screenshot',
        'wait',
      ],
    },
    coordinate: { type: 'array', items: { type: 'integer' }, description: 'Where, as [x, y] in pixels from the top left.' },
    start_coordinate: { type: 'array', items: { type: 'integer' }, description: 'Where a drag begins, as [x, y].' },
    text: { type: 'string', description: 'What to type, or the keys to press: "ctrl+c".' },
    scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'] },
    scroll_amount: { type: 'integer', description: 'How many clicks of the wheel.' },
    duration: { type: 'number', description: 'Seconds to wait.' },
  },
  required: ['action'],
};
