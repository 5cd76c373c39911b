import type { JsonObject } from '../platform/json/json-value.ts';

/** The name of the tool that controls a screen in the neutral form. The Messages interface prescribes this name. */
export const screenToolName = 'computer';

/**
 * The actions of a model on a screen, as arguments of a function. They are those of the Messages interface's own tool,
 * because any model accepts a flat object. Other dialects translate to and from them.
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
    coordinate: { type: 'array', items: { type: 'integer' }, description: 'The position, as [x, y] in pixels from the top left.' },
    start_coordinate: { type: 'array', items: { type: 'integer' }, description: 'The start of a drag, as [x, y].' },
    text: { type: 'string', description: 'The text to type, or the keys to press: "ctrl+c".' },
    scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'] },
    scroll_amount: { type: 'integer', description: 'The number of clicks of the wheel.' },
    duration: { type: 'number', description: 'Seconds to wait.' },
  },
  required: ['action'],
};
