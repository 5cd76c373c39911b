/**
 * A number times a power of ten, as a decimal string without loss: the digits of its shortest notation, with the point
 * moved. `shiftDecimal(1.5e-6, 6)` is `1.5`.
 * @param value finite and not negative
 */
export function shiftDecimal(value: number, places: number): string {
  const [mantissa = '0', exponent = '0'] = value.toString().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(exponent) + places;
  const padded = digits.padEnd(point, '0').padStart(digits.length + Math.max(0, 1 - point), '0');
  const at = Math.max(point, 1);
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const rest = padded.slice(at).replace(/0+$/, '');
  return rest === '' ? integer : `${integer}.${rest}`;
}

/** An amount of USD as a decimal string with at most nine places, rounded down: nobody gets more than they had. */
export function usdOf(value: number): string {
  const [nano = '0'] = shiftDecimal(value, 9).split('.');
  const digits = nano.padStart(10, '0');
  const places = digits.slice(-9).replace(/0+$/, '');
  return places === '' ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${places}`;
}
