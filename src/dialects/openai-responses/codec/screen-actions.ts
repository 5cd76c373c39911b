import { filledText, itemsOf, meaningOf, numberOf, objectsOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';

// Screen actions of this dialect, to and from the arguments of the neutral form, which are those of the Messages
// interface.

/** Pixels for one click of a scroll wheel. */
const pixelsPerClick = 100;

const pointOf = ({ x, y }: JsonObject): readonly number[] => [Math.round(numberOf(x) ?? 0), Math.round(numberOf(y) ?? 0)];

const clickByButton: Readonly<Record<string, string>> = { left: 'left_click', right: 'right_click', wheel: 'middle_click' };

/** Mice have buttons for back and forward; the neutral form uses these keys. */
const keysByButton: Readonly<Record<string, string>> = { back: 'alt+Left', forward: 'alt+Right' };

function decodeClick(action: JsonObject): JsonObject {
  const button = filledText(action.button) ?? 'left';
  const keys = meaningOf(button, keysByButton);
  return keys === undefined
    ? { action: meaningOf(button, clickByButton) ?? 'left_click', coordinate: pointOf(action) }
    : { action: 'key', text: keys };
}

function decodeScroll(action: JsonObject): JsonObject {
  const across = numberOf(action.scroll_x) ?? 0;
  const down = numberOf(action.scroll_y) ?? 0;
  const isAcross = Math.abs(across) > Math.abs(down);
  const pixels = isAcross ? across : down;
  const direction = isAcross ? (pixels < 0 ? 'left' : 'right') : pixels < 0 ? 'up' : 'down';
  const clicks = Math.max(1, Math.round(Math.abs(pixels) / pixelsPerClick));
  return { action: 'scroll', coordinate: pointOf(action), scroll_direction: direction, scroll_amount: clicks };
}

/** Reads an action of this dialect. An unknown one keeps its name. */
export function decodeAction(action: JsonObject): JsonObject {
  const type = textOf(action.type) ?? 'screenshot';
  switch (type) {
    case 'click':
      return decodeClick(action);
    case 'double_click':
      return { action: 'double_click', coordinate: pointOf(action) };
    case 'drag': {
      const path = objectsOf(action.path);
      return { action: 'left_click_drag', start_coordinate: pointOf(path[0] ?? {}), coordinate: pointOf(path.at(-1) ?? {}) };
    }
    case 'keypress':
      return { action: 'key', text: textsOf(action.keys).join('+') };
    case 'move':
      return { action: 'mouse_move', coordinate: pointOf(action) };
    case 'scroll':
      return decodeScroll(action);
    case 'type':
      return { action: 'type', text: textOf(action.text) ?? '' };
    case 'wait':
      return { action: 'wait', duration: 1 };
    default:
      return { action: type };
  }
}

type Point = { readonly x: number; readonly y: number };

function readPoint(value: JsonValue | undefined): Point {
  const [x, y] = itemsOf(value);
  return { x: numberOf(x) ?? 0, y: numberOf(y) ?? 0 };
}

const buttonByClick: Readonly<Record<string, string>> = { left_click: 'left', right_click: 'right', middle_click: 'wheel' };

function encodeScroll(args: JsonObject): JsonObject {
  const pixels = (numberOf(args.scroll_amount) ?? 1) * pixelsPerClick;
  const signs: Readonly<Record<string, readonly [number, number]>> = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };
  const [across, down] = meaningOf(args.scroll_direction, signs) ?? [0, 1];
  return { type: 'scroll', ...readPoint(args.coordinate), scroll_x: across * pixels, scroll_y: down * pixels };
}

/** Writes arguments as an action of this dialect. Undefined if there is no equivalent. */
export function encodeAction(args: JsonObject): JsonObject | undefined {
  const action = textOf(args.action) ?? '';
  const at = readPoint(args.coordinate);
  switch (action) {
    case 'left_click':
    case 'right_click':
    case 'middle_click':
      return { type: 'click', button: meaningOf(action, buttonByClick) ?? 'left', ...at };
    case 'double_click':
    case 'triple_click':
      return { type: 'double_click', ...at };
    case 'left_click_drag':
      return { type: 'drag', path: [readPoint(args.start_coordinate), at] };
    case 'key':
    case 'hold_key':
      return { type: 'keypress', keys: (textOf(args.text) ?? '').split('+').filter((key) => key !== '') };
    case 'mouse_move':
      return { type: 'move', ...at };
    case 'scroll':
      return encodeScroll(args);
    case 'type':
      return { type: 'type', text: textOf(args.text) ?? '' };
    case 'wait':
      return { type: 'wait' };
    case 'screenshot':
    // A screenshot shows the pointer and the details.
    case 'cursor_position':
    case 'zoom':
      return { type: 'screenshot' };
    default:
      return undefined;
  }
}
